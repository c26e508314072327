// The messages between the page and the worker that reads a file.

import type { Event, HistoryStep, Json, Session, SessionKey } from 'statepad';

/** The progress of reading. */
export interface Progress {
  /** The phase: the file is read, its sessions are built, its events come into the page. */
  readonly phase: 'read' | 'build' | 'show';
  /** The finished amount, in bytes or in events. */
  readonly done: number;
  /** The whole amount; 0 if it is unknown. */
  readonly total: number;
}

/** A session without its events and its state. */
export type Head = Pick<Session, 'appName' | 'userId' | 'id' | 'lastUpdateTime' | 'revision'>;

/** The content of a file. */
export interface Contents {
  readonly sessions: readonly SessionKey[];
  readonly events: number;
}

/** The reason why a file cannot be opened. */
export interface Refusal {
  readonly message: string;
  readonly problems: readonly { readonly place: string; readonly reason: string }[];
}

/** The calls of the page, with their answers. */
export interface Calls {
  list: { readonly given: { readonly appName: string }; readonly answer: readonly Head[] };
  get: { readonly given: SessionKey; readonly answer: Omit<Session, 'events'> | undefined };
  /** Some events of a session: all at once would block the page. */
  events: {
    readonly given: { readonly key: SessionKey; readonly from: number; readonly to: number };
    readonly answer: readonly Event[];
  };
  stateAt: {
    readonly given: { readonly key: SessionKey; readonly revision: number };
    readonly answer: Readonly<Record<string, Json>>;
  };
  history: {
    readonly given: {
      readonly key: SessionKey;
      readonly name: string;
      readonly options: { readonly until?: number; readonly last?: number };
    };
    readonly answer: readonly HistoryStep[];
  };
  /** All sessions of an app as JSON lines. */
  lines: { readonly given: { readonly appName: string }; readonly answer: readonly string[] };
}

/** The name of a call. */
export type Call = keyof Calls;

/** From the page: the file, once; then calls. */
export type Request =
  | { readonly open: File }
  | { [Name in Call]: { readonly id: number; readonly call: Name; readonly given: Calls[Name]['given'] } }[Call];

/** From the worker. */
export type Message =
  | { readonly progress: Progress }
  | { readonly opened: Contents }
  | { readonly refused: Refusal }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string };
