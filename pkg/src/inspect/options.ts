// The options of `inspect`, and their checks.

import { checkedLabel } from './files.js';
import { checkFunction, checkObject, checkOptions, invalid } from '../checks/arguments.js';
import { describe } from '../model/value-types.js';
import type { OnError } from '../http/answers.js';
import type { Principal } from '../http/principal.js';

/** A server whose sessions are inspected. */
export interface InspectedServer {
  /** Its URL, with its `basePath`: `https://example.com/agents`. */
  readonly url: string | URL;
  /** Sent with each request as `Authorization: Bearer …`. The page does not learn it. */
  readonly token?: string | undefined;
}

/** The part of the sessions that is shown, by names; all of a kind whose list is absent. */
export interface InspectedPart {
  readonly apps?: readonly string[] | undefined;
  /** In each of the apps. */
  readonly users?: readonly string[] | undefined;
  /** Of each of the users, by their ids. */
  readonly sessions?: readonly string[] | undefined;
}

/** Options of {@link inspect}. */
export interface InspectOptions {
  /** The port on 127.0.0.1; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** True lets the page write, too: state, events, rewinds, forks, deletions. By default it only reads. */
  readonly write?: boolean | undefined;
  /** True also opens the page in the browser of the user. False by default. */
  readonly open?: boolean | undefined;
  /** The name of the store on the page; `sessions` by default, or the host of a server. */
  readonly label?: string | undefined;
  /** The part that is shown; everything by default. Not of a server, which limits its tokens by itself. */
  readonly only?: InspectedPart | undefined;
  /**
   * True keeps the process running until `close`. By default neither the server nor an open page keeps a program
   * running that has nothing else to do.
   */
  readonly keepAlive?: boolean | undefined;
  /** Receives the line with the address; `false` prints none. `console.error` by default, as Node's own inspector. */
  readonly log?: ((line: string) => void) | false | undefined;
  /** Receives errors that the page does not show in full: those of the store. The console by default. */
  readonly onError?: OnError | undefined;
}

const OPTIONS = ['port', 'write', 'open', 'label', 'only', 'keepAlive', 'log', 'onError'];
const MOST_PORT = 65_535;

/** The options, checked and complete. */
export interface CheckedInspectOptions {
  readonly port: number;
  readonly open: boolean;
  readonly label: string;
  readonly keepAlive: boolean;
  readonly log: (line: string) => void;
  readonly onError: OnError | undefined;
  /** Whom the token of the page stands for. */
  readonly principal: Principal;
}

/** Checks the options. Throws `INVALID_ARGUMENT`. */
export function checkInspectOptions(input: InspectOptions, standardLabel?: string): CheckedInspectOptions {
  checkObject(input, 'options');
  checkOptions(input, OPTIONS);
  const { port = 0, write = false, open = false, keepAlive = false, log = printed, label, onError, only } = input;
  for (const [name, flag] of Object.entries({ write, open, keepAlive })) {
    if (typeof flag !== 'boolean') {
      invalid(name, `must be true or false, not ${describe(flag)}`);
    }
  }
  if (!(Number.isSafeInteger(port) && port >= 0 && port <= MOST_PORT)) {
    invalid('port', `must be a whole number from 0 to ${MOST_PORT}, not ${describe(port)}`);
  }
  for (const [name, value] of Object.entries({ log, onError })) {
    if (value !== undefined && value !== false) {
      checkFunction(value, name);
    }
  }
  return {
    port,
    open,
    label: checkedLabel(label ?? standardLabel),
    keepAlive,
    log: log === false ? () => undefined : log,
    onError,
    principal: { id: 'inspector', ...grantedOf(only), writes: write ? ['session', 'user', 'app'] : [] },
  };
}

function grantedOf(only: InspectedPart = {}): Pick<Principal, 'apps' | 'users' | 'sessions'> {
  checkOptions(only, ['apps', 'users', 'sessions'], 'only');
  const granted = (name: keyof InspectedPart): readonly string[] | 'all' => {
    const names: unknown = only[name] ?? 'all';
    if (names !== 'all' && !(Array.isArray(names) && names.every((each) => typeof each === 'string'))) {
      invalid(`only.${name}`, `must be a list of names, not ${describe(names)}`);
    }
    return names;
  };
  return { apps: granted('apps'), users: granted('users'), sessions: granted('sessions') };
}

function printed(line: string): void {
  console.error(line);
}
