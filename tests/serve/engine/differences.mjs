// Answers that differ from those of Agent Engine, and the reasons. A line that no longer differs fails the test.

const NAMES =
  'names repeat the path that was asked for, which adk-rust compares; the API writes the number of the project';
const IDS =
  'ids are those of the service: generated ones are UUIDs, those of events are their own, operations say what they were';
const TIMES =
  'the time of a session is that of its creation or its last event, as its events tell it, in milliseconds';
const EXPIRY =
  'without ttl and expireTime a session expires when the service says so, and by default never: not after a year';
const UPDATED_EXPIRY = 'the end of a session is that of its creation: an update that names another one is refused';
const RAW = 'an event always comes back whole as well, with its id';
const OTHER_IDS = 'google-adk and adk-java take ids of [A-Za-z0-9_-]+, and the other API of this server makes any id';
const TEMP = 'temp: keys are stored nowhere, not even in events';
const RUST = 'adk-rust, which alone speaks v1, reads no other answer';
const AGAIN = 'a creation that is sent again, while the session is as it was created, is answered as the first time';

/** The differences from the recordings: methods, and paths with `*` for any text. */
export const RECORDED = [
  { method: '*', path: '*name (projects)', reason: NAMES },
  { method: '*', path: '*name (sessions)', reason: IDS },
  { method: '*', path: '*name (operations)', reason: IDS },
  { method: 'ListEvents', path: '*name (events)', reason: IDS },
  { method: 'ListEvents', path: 'sessionEvents.*.rawEvent', reason: RAW },
  { method: 'ListEvents', path: 'sessionEvents.*.actions.stateDelta.temp:k1', reason: TEMP },
  { method: '*Session*', path: '*expireTime', reason: EXPIRY },
  { method: 'AppendEvent', path: 'error', reason: OTHER_IDS },
  { method: 'GetSession', path: 'error', reason: OTHER_IDS },
  { method: 'CreateSession', path: 'error', reason: NAMES },
  { method: 'times', path: 'CreateSession.* and *', reason: TIMES },
  { method: 'times', path: '*updateTime and *', reason: TIMES },
  { method: 'times', path: '*createTime and *updateTime', reason: TIMES },
];

/**
 * The cases of tests/cases/vertex.json that do not hold: their names, the versions if not both, and a part of the
 * message with which they fail first.
 */
export const CASES = [
  {
    name: 'a session is made by an operation that is done at once, with the state that was given and no more',
    fails: /POST \/sessions\?sessionId=s1\.name/,
    reason: IDS,
  },
  {
    name: 'a session has the state of its app and its user besides its own, and expires after a year',
    fails: /- +'expireTime'/,
    reason: EXPIRY,
  },
  {
    name: 'the service gives ids of digits, and names resources by the number of the project',
    fails: /POST \/sessions\.name/,
    reason: IDS,
  },
  ...[
    'in capitals',
    'with an underscore',
    'that begins with a hyphen',
    'that ends with a hyphen',
    'of 64 letters',
  ].map((which) => ({
    name: `an id ${which} is refused by all calls`,
    fails: /POST \/sessions: .*"done":true/,
    reason: OTHER_IDS,
  })),
  ...['of another alphabet', 'with a dot'].map((which) => ({
    name: `an id ${which} is refused by all calls`,
    fails: /GET \/sessions\/\S+: .*404 !== 400/s,
    reason: OTHER_IDS,
  })),
  {
    name: 'a taken id is refused, whoever has it',
    fails: /POST \/sessions\?sessionId=s1: .*200 !== 400/s,
    reason: AGAIN,
  },
  {
    name: 'a deleted session is gone with its events, and its id is free; what it shared stays',
    fails: /DELETE \/sessions\/s1\.name/,
    reason: IDS,
  },
  { name: 'temp: keys are no state, but stay in the event', fails: /stateDelta\.temp:b/, reason: TEMP },
  {
    name: 'numbers of state are doubles',
    fails: /the number 9007199254740993 at sessionState\.big/,
    reason: 'a number that would be stored as another one is refused, and never rounded',
  },
  {
    name: 'members of a Struct come back in another order, always in the same',
    fails: /"a":1,"b":\{"d":1,"c":2\},"__proto__":3/,
    reason: 'keys come back in the order in which they were written',
  },
  ...[
    'a stored event has a name, and content, actions and metadata even if they are empty',
    'values that are the default are left out',
  ].flatMap((name) => [
    { name, versions: ['v1beta1'], fails: /\+ +'rawEvent'/, reason: RAW },
    { name, versions: ['v1'], fails: /- +'content'/, reason: RUST },
  ]),
  {
    name: 'every field of an event comes back',
    fails: /The stateDelta of rawEvent\.actions must be that of actions\./,
    reason: 'readers of rawEvent would see another event than readers of its parts, and the rights know one delta',
  },
  {
    name: 'events are in the order of their times, and then of their arrival',
    versions: ['v1beta1'],
    fails: /author/,
    reason: 'events are in the order of appending for all clients of both APIs, unless orderBy says otherwise',
  },
  {
    name: 'a field that is not known is refused at any depth, all of them at once, and nothing is written',
    fails: /- .*requestedToolConfirmations/,
    reason: '@google/adk and adk-java send actions.requestedToolConfirmations',
  },
  { name: 'a session expires a year after it was made, and is gone then', fails: /200 !== 404/, reason: EXPIRY },
  { name: 'sessions can be ordered by their times', fails: /GET \/sessions\.sessions\.0\.name/, reason: TIMES },
  { name: 'a token is for the query that it came from', fails: /GET \/sessions\.sessions\.0\.name/, reason: TIMES },
  {
    name: 'a page has 100 items at most, and has a size of 0 as if it had none',
    fails: /130 !== 100/,
    reason: '@google/adk and adk-java read the first page of events alone: it has all of them',
  },
  {
    name: 'a session can be changed, by what a mask names or by what the body has',
    fails: /PATCH \/sessions\/s1: .*update_mask/,
    reason: UPDATED_EXPIRY,
  },
  {
    name: 'a session is there when the operation that makes it is done, and its id is taken before',
    fails: /POST \/sessions\?sessionId=s1\.name/,
    reason: IDS,
  },
  {
    name: 'a session is there until the operation that deletes it is done',
    fails: /DELETE \/sessions\/s1 has done/,
    reason: 'operations are done when they are answered',
  },
  {
    name: 'what the API does not have is a page that says 404',
    fails: /there is nothing at/,
    reason: 'the answer is that of this server for all paths, and for methods that a path does not have it is 405',
  },
];
