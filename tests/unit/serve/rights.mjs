// The rights of clients: each operation of statepad's own routes, with requests for the session `monday` of the user
// `ana`, and the status that each client gets. `.` stands for the status in `ok`; a number for itself.

/** The clients, in the order of the columns: see `server.mjs`. `-` has no token, `?` a wrong one. */
export const COLUMNS = [
  ...['-', '?', 'expired', 'admin', 'editor', 'ana', 'ben', 'monday', 'tuesday', 'reader'],
  ...['private', 'plain', 'values', 'nobody', 'other app', 'no app', 'sweeper'],
];

const S = '/v1/apps/tutor/users/ana/sessions/monday';
const U = '/v1/apps/tutor/users/ana';
const A = '/v1/apps/tutor';
const event = (stateDelta, more = {}) => ({
  event: { author: 'agent', invocationId: 'i2', actions: { stateDelta, ...more } },
});
const marked = (statepad, stateDelta) => ({
  event: { author: 'agent', actions: { stateDelta }, customMetadata: { statepad } },
});

/** Rights to what a session shows, to what it shows to those who may change it, and so on: the columns of a kind. */
const SESSION_READ = '401 401 401 . . . 403 . 403 . . . 403 403 403 403 403';
const SESSION_WRITE = '401 401 401 . . . 403 . 403 403 . . 403 403 403 403 403';
const USER_KEY = '401 401 401 . . . 403 403 403 403 . . 403 403 403 403 403';
const APP_KEY = '401 401 401 . . 403 403 403 403 403 403 403 403 403 403 403 403';
const NEW_SESSION = '401 401 401 . . . 403 403 403 403 . . 403 403 403 403 403';
const SWEEP = '401 401 401 . 403 403 403 403 403 403 403 403 403 403 403 403 .';
const SWEEP_ALL = '401 401 401 . 403 403 403 403 403 403 403 403 403 403 403 403 403';
const ANYONE = '. . . . . . . . . . . . . . . . .';
const ANY_CLIENT = '401 401 401 . . . . . . . . . . . . . .';

/** Operation, description of the request, method, path, body, status when it is allowed, the rights, headers. */
export const TABLE = [
  ['health', '', 'GET', '/healthz', undefined, 200, ANYONE],
  ['readiness', '', 'GET', '/readyz', undefined, 200, ANYONE],
  ['describe', '', 'GET', '/openapi.json', undefined, 200, ANYONE],

  ['listApps', '', 'GET', '/v1/apps', undefined, 200, ANY_CLIENT],
  ['listUsers', '', 'GET', `${A}/users`, undefined, 200, '401 401 401 . . . . . . . . . . . 403 403 .'],
  ['listAppSessions', '', 'GET', `${A}/sessions`, undefined, 200, '401 401 401 . . . . . . . . . 403 . 403 403 .'],
  ['listSessions', '', 'GET', `${U}/sessions`, undefined, 200, '401 401 401 . . . 403 . . . . . 403 403 403 403 403'],

  ['createSession', 'of a given id', 'POST', `${U}/sessions`, { sessionId: 'new' }, 200, NEW_SESSION],
  ['createSession', 'of a generated id', 'POST', `${U}/sessions`, {}, 200, NEW_SESSION],
  ['createSession', 'of a blank id', 'POST', `${U}/sessions`, { sessionId: ' ' }, 200, NEW_SESSION],
  ['createSession', 'that is there', 'POST', `${U}/sessions`, { sessionId: 'monday' }, 409, SESSION_WRITE],
  ['createSession', 'with a user key', 'POST', `${U}/sessions`, { state: { 'user:n': 1 } }, 200, USER_KEY],
  ['createSession', 'with an app key', 'POST', `${U}/sessions`, { state: { n: 1, 'app:n': 1 } }, 200, APP_KEY],
  ['createSession', 'with a temp key', 'POST', `${U}/sessions`, { state: { 'temp:n': 1 } }, 200, NEW_SESSION],
  [
    'getOrCreateSession',
    'that is there',
    'POST',
    `${U}/sessions:getOrCreate`,
    { sessionId: 'monday' },
    200,
    SESSION_WRITE,
  ],
  [
    'getOrCreateSession',
    'that is missing',
    'POST',
    `${U}/sessions:getOrCreate`,
    { sessionId: 'new' },
    200,
    NEW_SESSION,
  ],
  [
    ...['getOrCreateSession', 'with an app key', 'POST', `${U}/sessions:getOrCreate`],
    ...[{ sessionId: 'monday', state: { 'app:n': 1 } }, 200, APP_KEY],
  ],
  ['getSession', '', 'GET', S, undefined, 200, SESSION_READ],
  ['deleteSession', '', 'DELETE', S, undefined, 204, SESSION_WRITE],

  ['rewindSession', '', 'POST', `${S}:rewind`, { before: 'i1' }, 200, SESSION_WRITE],
  ['redoSession', 'without a rewind', 'POST', `${S}:redo`, undefined, 400, SESSION_WRITE],
  ['forkSession', 'under a generated id', 'POST', `${S}:fork`, {}, 200, NEW_SESSION],
  ['forkSession', 'under a given id', 'POST', `${S}:fork`, { sessionId: 'new' }, 200, NEW_SESSION],
  ['forkSession', 'under its own id', 'POST', `${S}:fork`, { sessionId: 'monday' }, 409, SESSION_WRITE],

  ['listEvents', '', 'GET', `${S}/events`, undefined, 200, SESSION_READ],
  ['appendEvent', 'of a session key', 'POST', `${S}/events`, event({ n: 1 }), 200, SESSION_WRITE],
  ['appendEvent', 'of a user key', 'POST', `${S}/events`, event({ 'user:n': 1 }), 200, USER_KEY],
  ['appendEvent', 'of an app key', 'POST', `${S}/events`, event({ n: 1, 'app:n': 1 }), 200, APP_KEY],
  ['appendEvent', 'of a temp key', 'POST', `${S}/events`, event({ 'temp:n': 1 }), 200, SESSION_WRITE],
  [
    ...['appendEvent', 'that deletes an app key', 'POST', `${S}/events`],
    ...[marked({ deleted: ['app:motd'] }, { 'app:motd': null }), 200, APP_KEY],
  ],
  [
    ...['appendEvent', 'that names a deleted app key', 'POST', `${S}/events`],
    ...[marked({ deleted: ['app:motd'] }, {}), 400, APP_KEY],
  ],
  [
    ...['appendEvent', 'with an operator on an app key', 'POST', `${S}/events`],
    ...[marked({ operators: { 'app:seen': { increment: 1 } } }, {}), 200, APP_KEY],
  ],
  [
    ...['appendEvent', 'with an operator on a user key', 'POST', `${S}/events`],
    ...[marked({ operators: { 'user:visits': { increment: 1 } } }, { 'user:visits': null }), 200, USER_KEY],
  ],
  [
    ...['appendEvent', 'that compares a user key', 'POST', `${S}/events`],
    ...[marked({ operators: { 'user:name': { compareAndSet: { expected: 'Ana', value: 'A' } } } }, {}), 200],
    // Without reading it could find out what the value is.
    '401 401 401 . . . 403 403 403 403 . 403 403 403 403 403 403',
  ],
  [
    ...['appendEvent', 'that copies an operator on an app key', 'POST', `${S}/events`],
    ...[marked({ operators: { 'app:seen': { increment: 1 } } }, { 'app:seen': 2 }), 200, APP_KEY],
  ],
  [
    ...['appendEvent', 'that is a marker', 'POST', `${S}/events`],
    ...[event({ n: 1 }, { rewindBeforeInvocationId: 'i1' }), 200, SESSION_WRITE],
  ],
  [
    ...['appendEvent', 'that is a marker with an app key', 'POST', `${S}/events`],
    ...[event({ 'app:motd': 'Hi' }, { rewindBeforeInvocationId: 'i1' }), 200, APP_KEY],
  ],
  ['appendEvent', 'that is partial', 'POST', `${S}/events`, { event: { partial: true } }, 200, SESSION_WRITE],

  ['getAppState', '', 'GET', `${A}/state`, undefined, 200, '401 401 401 . . . . . . . 403 403 . . 403 403 .'],
  ['getUserState', '', 'GET', `${U}/state`, undefined, 200, '401 401 401 . . . 403 . . . . 403 . 403 403 403 403'],
  ['getSessionState', '', 'GET', `${S}/state`, undefined, 200, SESSION_READ],
  ['getSessionState', 'at a revision', 'GET', `${S}/state?revision=0`, undefined, 200, SESSION_READ],
  ['updateAppState', '', 'POST', `${A}/state:update`, { delta: { 'app:n': 1 } }, 200, APP_KEY],
  [
    'updateAppState',
    'with an operator',
    'POST',
    `${A}/state:update`,
    { operators: { 'app:seen': { increment: 1 } } },
    200,
    APP_KEY,
  ],
  [
    ...['updateUserState', 'of a user key', 'POST', `${U}/state:update`, { delta: { 'user:n': 1 } }, 200],
    '401 401 401 . . . 403 403 403 403 . 403 . 403 403 403 403',
  ],
  ['updateUserState', 'of an app key', 'POST', `${U}/state:update`, { delta: { 'app:n': 1 } }, 200, APP_KEY],
  [
    ...['updateUserState', 'that expects an app key', 'POST', `${U}/state:update`],
    ...[{ delta: { 'user:n': 1 }, expected: { set: { 'app:seen': 1 } } }, 200],
    '401 401 401 . . . 403 403 403 403 403 403 . 403 403 403 403',
  ],
  [
    ...['updateUserState', 'that expects no app key', 'POST', `${U}/state:update`],
    ...[{ delta: { 'user:n': 1 }, expected: { unset: ['app:none'] } }, 200],
    '401 401 401 . . . 403 403 403 403 403 403 . 403 403 403 403',
  ],
  ['updateSessionState', 'of a session key', 'POST', `${S}/state:update`, { delta: { n: 1 } }, 200, SESSION_WRITE],
  ['updateSessionState', 'of a user key', 'POST', `${S}/state:update`, { delta: { 'user:n': 1 } }, 200, USER_KEY],
  ['updateSessionState', 'of an app key', 'POST', `${S}/state:update`, { delta: { 'app:n': 1 } }, 200, APP_KEY],
  [
    'updateSessionState',
    'that deletes an app key',
    'POST',
    `${S}/state:update`,
    { deleted: ['app:motd'] },
    200,
    APP_KEY,
  ],
  [
    ...['updateSessionState', 'that expects a user key', 'POST', `${S}/state:update`],
    ...[{ delta: { n: 1 }, expected: { set: { 'user:name': 'Ana' } } }, 200],
    '401 401 401 . . . 403 . 403 403 . 403 403 403 403 403 403',
  ],

  ['getSessionHistory', 'of a session key', 'GET', `${S}/history?key=topic`, undefined, 200, SESSION_READ],
  [
    ...['getSessionHistory', 'of an app key', 'GET', `${S}/history?key=app:motd`, undefined, 200],
    '401 401 401 . . . 403 . 403 . 403 403 403 403 403 403 403',
  ],
  [
    'getAppHistory',
    '',
    'GET',
    `${A}/history?key=app:motd`,
    undefined,
    200,
    '401 401 401 . . . . . . . 403 403 . . 403 403 .',
  ],
  [
    'getUserHistory',
    '',
    'GET',
    `${U}/history?key=user:name`,
    undefined,
    200,
    '401 401 401 . . . 403 . . . . 403 . 403 403 403 403',
  ],
  ['trimAppHistory', '', 'POST', `${A}/history:trim`, { upTo: 1 }, 200, APP_KEY],
  [
    ...['trimUserHistory', '', 'POST', `${U}/history:trim`, { upTo: 1 }, 200],
    '401 401 401 . . . 403 403 403 403 . 403 . 403 403 403 403',
  ],

  ['sweepApp', '', 'POST', `${A}:sweep`, {}, 200, SWEEP],
  ['sweepApp', 'to count', 'POST', `${A}:sweep`, { dryRun: true }, 200, SWEEP],
  ['sweepApp', 'of another app', 'POST', '/v1/apps/shop:sweep', {}, 200, SWEEP_ALL],
  ['sweep', '', 'POST', '/v1/apps:sweep', {}, 200, SWEEP_ALL],

  ['getLease', '', 'GET', `${S}/lease`, undefined, 200, SESSION_READ],
  ['takeLease', '', 'POST', `${S}/lease`, { ttl: 1000 }, 200, SESSION_WRITE],
  [
    'renewLease',
    'that nobody has',
    'POST',
    `${S}/lease:renew`,
    {},
    409,
    SESSION_WRITE,
    { 'statepad-lease': 'FORGED' },
  ],
  [
    'releaseLease',
    'that nobody has',
    'DELETE',
    `${S}/lease`,
    undefined,
    409,
    SESSION_WRITE,
    { 'statepad-lease': 'FORGED' },
  ],

  [
    'watch',
    'of a session',
    'GET',
    '/v1/watch?appName=tutor&userId=ana&sessionId=monday',
    undefined,
    200,
    SESSION_READ,
  ],
  [
    ...['watch', 'of a user', 'GET', '/v1/watch?appName=tutor&userId=ana', undefined, 200],
    '401 401 401 . . . 403 . . . . 403 . 403 403 403 403',
    { accept: 'text/event-stream' },
  ],
  [
    ...['watch', 'of an app', 'GET', '/v1/watch?appName=tutor', undefined, 200],
    '401 401 401 . . . . . . . 403 403 . . 403 403 .',
    { accept: 'text/event-stream' },
  ],
  // The stream says for each target whether it is refused.
  [
    'watchSeveral',
    '',
    'POST',
    '/v1/watch',
    [{ appName: 'tutor', userId: 'ana', sessionId: 'monday' }],
    200,
    ANY_CLIENT,
  ],
];
