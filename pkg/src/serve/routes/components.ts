// The schemas that several routes share. The description of the routes names them.

import { ERROR_STATUS } from '../../http/answers.js';
import type { Schema } from './schema.js';

export { DEFAULT_PAGE, MAX_PAGE } from '../../http/pages.js';

export const JSON_VALUE = { description: 'Any JSON value.' } as const satisfies Schema;

export const TEXT = { type: 'string' } as const satisfies Schema;

export const TIME = {
  type: 'number',
  description: 'A time, in milliseconds since the epoch.',
} as const satisfies Schema;

export const EXPIRE_TIME = {
  type: 'number',
  description: 'The time from which the session is not there any more, in milliseconds; absent where it never ends.',
} as const satisfies Schema;

/** The members of a creation that say when the session expires: one of them at most. */
export const EXPIRY_INPUT = {
  ttl: {
    type: ['number', 'null'],
    description:
      'So many milliseconds after the last write the session expires. `null`: never, whatever the default of the server is.',
  },
  expireTime: {
    type: 'number',
    description: 'The time at which the session expires, in milliseconds since the epoch; writes do not move it.',
  },
} as const satisfies Readonly<Record<string, Schema>>;

export const REVISION = {
  type: 'integer',
  minimum: 0,
  description: 'The number of events of a session.',
} as const satisfies Schema;

export const STATE = {
  type: 'object',
  additionalProperties: JSON_VALUE,
  description: 'Values under their full keys: `app:` and `user:` begin those that sessions share.',
} as const satisfies Schema;

export const NAMES = { type: 'array', items: TEXT } as const satisfies Schema;

export const ARTIFACT_DELTA = {
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0 },
  description: 'The versions of saved artifacts, by name.',
} as const satisfies Schema;

export const OPERATOR = {
  type: 'object',
  description: 'A write that is resolved against the value at commit. It has one member.',
  properties: {
    increment: { type: 'number', description: 'Adds a number; a missing key counts as 0.' },
    append: {
      type: 'array',
      items: JSON_VALUE,
      description: 'Adds items to the end of a list; a missing key counts as an empty one.',
    },
    setOnce: { description: 'Sets the key if it is missing.' },
    compareAndSet: {
      type: 'object',
      description: 'Sets the key to `value` if it has the value `expected`; without `expected`, if it is missing.',
      properties: { expected: JSON_VALUE, value: JSON_VALUE },
      required: ['value'],
      additionalProperties: false,
    },
  },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const satisfies Schema;

/** Members without a type may have any value: what the service keeps unchanged is not checked here either. */
const EVENT_MEMBERS = {
  id: { type: 'string', description: 'Unique in the session. An event that is sent again changes nothing.' },
  invocationId: { type: 'string', description: 'The turn that it belongs to.' },
  author: { description: '`user`, or the name of the agent.' },
  timestamp: TIME,
  content: { description: '`{ role, parts }`, as in ADK.' },
  partial: { description: 'True for a piece of a streamed answer: it is returned, and not stored.' },
  longRunningToolIds: JSON_VALUE,
  branch: JSON_VALUE,
  customMetadata: {
    description:
      'Further data. Its member `statepad` lists the deleted keys (`deleted`), each of which is `null` in the delta, ' +
      'and has the operators under their keys (`operators`).',
  },
} as const;

const ACTION_MEMBERS = {
  stateDelta: STATE,
  artifactDelta: { description: 'The versions of saved artifacts, by name.' },
  requestedAuthConfigs: JSON_VALUE,
  requestedToolConfirmations: JSON_VALUE,
  skipSummarization: JSON_VALUE,
  transferToAgent: JSON_VALUE,
  escalate: JSON_VALUE,
  rewindBeforeInvocationId: {
    description: 'A text rewinds the session to before this invocation: the delta of the event is replaced.',
  },
} as const;

export const EVENT = {
  type: 'object',
  description: 'A stored event. It may have further members.',
  properties: {
    ...EVENT_MEMBERS,
    actions: {
      type: 'object',
      properties: ACTION_MEMBERS,
      required: ['stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'],
      additionalProperties: JSON_VALUE,
    },
  },
  required: ['id', 'invocationId', 'timestamp', 'actions'],
  additionalProperties: JSON_VALUE,
} as const satisfies Schema;

export const EVENT_INPUT = {
  type: 'object',
  description: 'An event to append. Missing members are filled in, further ones are kept.',
  properties: {
    ...EVENT_MEMBERS,
    actions: { type: 'object', properties: ACTION_MEMBERS, additionalProperties: JSON_VALUE },
  },
  additionalProperties: JSON_VALUE,
} as const satisfies Schema;

export const SESSION = {
  type: 'object',
  description: 'A session, with the keys that the client may read.',
  properties: {
    id: TEXT,
    appName: TEXT,
    userId: TEXT,
    state: STATE,
    events: { type: 'array', items: EVENT },
    lastUpdateTime: TIME,
    revision: REVISION,
    expireTime: EXPIRE_TIME,
  },
  required: ['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime', 'revision'],
} as const satisfies Schema;

export const SESSION_KEY = {
  type: 'object',
  properties: { appName: TEXT, userId: TEXT, sessionId: TEXT },
  required: ['appName', 'userId', 'sessionId'],
} as const satisfies Schema;

export const REWOUND = {
  type: 'object',
  properties: {
    event: EVENT,
    revision: REVISION,
    shared: {
      ...NAMES,
      description: 'The `app:` and `user:` keys that the turns had written. They stay as they are.',
    },
  },
  required: ['event', 'revision', 'shared'],
} as const satisfies Schema;

export const LEASE = {
  type: 'object',
  properties: {
    lease: { type: 'string', description: 'The value of the header Statepad-Lease.' },
    token: { type: 'integer', description: 'Greater than that of every earlier lease of the session.' },
    until: { ...TIME, description: "The time when it ends unless it is renewed, by the store's clock." },
    ttl: { type: 'integer', description: 'Its duration from now on, in milliseconds.' },
  },
  required: ['lease', 'token', 'until', 'ttl'],
} as const satisfies Schema;

export const HELD_LEASE = {
  type: 'object',
  properties: {
    token: { type: 'integer', description: 'Greater than that of every earlier lease of the session.' },
    holder: { type: 'string', description: 'The id of the holder: another one for each lease.' },
    until: { ...TIME, description: "The time when it ends unless it is renewed, by the store's clock." },
  },
  required: ['token', 'holder', 'until'],
} as const satisfies Schema;

export const OK = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
} as const satisfies Schema;

export const ERROR = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
        message: TEXT,
        number: { type: 'string', description: 'The number under which the server has logged the rest.' },
        committed: { type: 'boolean', description: 'True when the write is stored, and only its answer failed.' },
        key: { type: 'string', description: 'The key of the state concerned.' },
        path: { type: 'string', description: 'The place of the fault in the request.' },
        id: { type: 'string', description: 'The id of the session or the event concerned.' },
        expected: { ...REVISION, description: 'The revision that the client expected.' },
        actual: { ...REVISION, description: 'The revision that the session has.' },
        until: { ...TIME, description: "The time when the lease ends, by the store's clock." },
        exceeded: {
          type: 'string',
          description: 'The name of the limit of the service: absent where it is one of the store.',
        },
        size: { type: 'integer', description: 'The size of the data: in bytes, or the number of keys or events.' },
        limit: { type: 'integer', description: 'The limit, in the same unit.' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
} as const satisfies Schema;

/** The schemas that have a name in the description. */
export const COMPONENTS: Readonly<Record<string, Schema>> = {
  Error: ERROR,
  Event: EVENT,
  EventInput: EVENT_INPUT,
  Lease: LEASE,
  Operator: OPERATOR,
  Rewound: REWOUND,
  Session: SESSION,
  State: STATE,
};
