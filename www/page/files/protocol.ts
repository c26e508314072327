// The messages between the page and the worker that reads a file.

import type { Event, Session, SessionKey } from 'statepad';
import type { InspectorSource } from 'statepad/inspector';

/** The progress of reading. */
export interface Progress {
  /** The phase: the file is read, its sessions are built, its events come into the page. */
  readonly phase: 'read' | 'build' | 'show';
  /** The finished amount, in bytes or in events. */
  readonly done: number;
  /** The whole amount; 0 if it is unknown. */
  readonly total: number;
}

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

/** The methods of a source whose answers are plain data: they pass as they are. */
export const PLAIN = ['listApps', 'listUsers', 'listSessions', 'stateAt', 'history'] as const;

/** One of {@link PLAIN}. */
export type PlainMethod = (typeof PLAIN)[number] & keyof InspectorSource;

/** The other calls of the page, with their answers. */
export interface Calls {
  get: { readonly given: SessionKey; readonly answer: Omit<Session, 'events'> | undefined };
  /** Some events of a session: all at once would block the page. */
  events: {
    readonly given: { readonly key: SessionKey; readonly from: number; readonly to: number };
    readonly answer: readonly Event[];
  };
  /** All sessions of an app as JSON lines. */
  lines: { readonly given: { readonly appName: string }; readonly answer: readonly string[] };
}

/** The name of a call. */
export type Call = keyof Calls;

/** A call of the page, which is answered under its id. */
export type Asked = { readonly id: number } & (
  | { readonly method: PlainMethod; readonly args: readonly unknown[] }
  | { [Name in Call]: { readonly call: Name; readonly given: Calls[Name]['given'] } }[Call]
);

/** From the page: the file, once; then calls. */
export type Request = { readonly open: File } | Asked;

/** From the worker. */
export type Message =
  | { readonly progress: Progress }
  | { readonly opened: Contents }
  | { readonly refused: Refusal }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string };
