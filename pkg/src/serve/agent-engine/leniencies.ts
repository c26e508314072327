// The places where this server is less strict than Agent Engine, and the choices that its clients need. Each line
// names the client that needs it, as of November 2026: google-adk 2.13, @google/adk 2.0, adk-java 1.8, adk-rust 2.3.

import type { FurtherFields, Version } from './wire/schema.js';

/** A field that a client sends, and the API does not have. */
export interface FieldLeniency {
  readonly client: string;
  readonly message: string;
  readonly field: string;
  /** Its type, as in the table of messages. */
  readonly type: string;
  /** True when it is so only beside `rawEvent`, which has the field whole: nothing is read from the field then. */
  readonly besideRaw?: true;
}

/** Fields that the API refuses, or reads as another type. */
export const FIELDS: readonly FieldLeniency[] = [
  { client: '@google/adk', message: 'EventActions', field: 'requestedToolConfirmations', type: 'struct' },
  { client: '@google/adk', message: 'EventActions', field: 'agentState', type: 'struct', besideRaw: true },
  {
    client: '@google/adk',
    message: 'EventActions',
    field: 'rewindBeforeInvocationId',
    type: 'string',
    besideRaw: true,
  },
  { client: 'adk-java', message: 'EventActions', field: 'requestedToolConfirmations', type: 'struct' },
  { client: 'adk-java', message: 'EventActions', field: 'endOfAgent', type: 'bool' },
  { client: 'adk-java', message: 'EventMetadata', field: 'usageMetadata', type: 'struct' },
  { client: 'adk-java', message: 'SessionEvent', field: 'timestamp', type: 'moment' },
  // All members of its models: the API refuses `partMetadata`, `toolCall` and what else it does not know yet.
  { client: 'google-adk', message: 'SessionEvent', field: 'content', type: 'struct', besideRaw: true },
  { client: 'google-adk', message: 'EventMetadata', field: 'groundingMetadata', type: 'struct', besideRaw: true },
];

/** {@link FIELDS}, by their messages: those that count without `rawEvent`. */
export const FURTHER_FIELDS = byMessage(FIELDS.filter(({ besideRaw }) => besideRaw === undefined));

/** {@link FIELDS}, by their messages: those that count beside `rawEvent`. */
export const FURTHER_FIELDS_BESIDE_RAW = byMessage(FIELDS);

function byMessage(lines: readonly FieldLeniency[]): FurtherFields {
  return Object.fromEntries(
    [...new Set(lines.map(({ message }) => message))].map((message) => [
      message,
      Object.fromEntries(lines.filter((one) => one.message === message).map(({ field, type }) => [field, type])),
    ]),
  );
}

/** The ids that a creation may choose, where the API takes fewer. */
export const SESSION_IDS = [{ client: 'google-adk', pattern: /^[A-Za-z0-9_-]+$/ }] as const;

/** Parts that requests may leave out or send in addition. The wire code reads all of them; the tests ask for each. */
export const REQUESTS = [
  { client: 'google-adk', leniency: 'paths without projects/P/locations/L, those of express mode' },
  { client: 'google-adk', leniency: 'a key in the header x-goog-api-key, which `authorize` reads' },
  { client: '@google/adk', leniency: 'DELETE with the body {}' },
] as const;

/** The choices by the version of the API that a client speaks. */
export interface VersionChoices {
  /**
   * The parent of the names of operations: `session`, from which adk-java takes the id of the session (it asks for
   * `operations/ID` of the location all the same); `location`, the only one that adk-rust accepts.
   */
  readonly operationParent: 'session' | 'location';
  /** The order of events where none is asked for. adk-rust refuses times that are not in order. */
  readonly eventOrder: '' | 'timestamp';
  /** The status for a session id that is taken. adk-rust looks for 409. */
  readonly taken: 'INVALID_ARGUMENT' | 'ALREADY_EXISTS';
  /** True when an event without content has `{}`, as the API does. adk-rust refuses it. */
  readonly hasEmptyContent: boolean;
  /** True when answers have {@link FIELDS}, which adk-java reads, and adk-rust refuses. */
  readonly hasFurtherFields: boolean;
  /** True when the custom metadata has what ADK puts there for readers without `rawEvent`: google-adk before 2.2. */
  readonly hasAdkMetadata: boolean;
}

/** adk-rust speaks `v1`, all others `v1beta1`. */
export const CHOICES: Readonly<Record<Version, VersionChoices>> = {
  v1: {
    operationParent: 'location',
    eventOrder: 'timestamp',
    taken: 'ALREADY_EXISTS',
    hasEmptyContent: false,
    hasFurtherFields: false,
    hasAdkMetadata: false,
  },
  v1beta1: {
    operationParent: 'session',
    eventOrder: '',
    taken: 'INVALID_ARGUMENT',
    hasEmptyContent: true,
    hasFurtherFields: true,
    hasAdkMetadata: true,
  },
};
