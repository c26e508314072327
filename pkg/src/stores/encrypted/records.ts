// The records that are stored in place of values and events, and the bindings of each.

import { defined } from '../../model/defined.js';
import { StoreError } from '../../store/store-error.js';
import { isSealed, type Binding, type Cipher } from './cipher.js';
import { readStamp, writeStamp, type Stamp } from './stamp.js';
import { valuesOf } from '../shared/values.js';
import type { NameTokens } from './names.js';
import type { Change, Delta, LogWrite, ScopedValues, ScopeName, Values } from '../../store/contract.js';
import type { Json, SessionKey } from '../../model/types.js';

/**
 * The home of values: the app, a user in it, or one session, which its creation tells from others under the same key.
 */
export type Home =
  | { readonly scope: 'app'; readonly app: string }
  | { readonly scope: 'user'; readonly app: string; readonly user: string }
  | { readonly scope: 'session'; readonly key: SessionKey; readonly created: string };

/** The home of the values of an app, or of a user in it. */
export function homeOfScope({ app, user }: ScopeName): Home {
  return user === undefined ? { scope: 'app', app } : { scope: 'user', app, user };
}

/** The way in which values and events are written. */
export interface RecordOptions {
  readonly cipher: Cipher;
  /** Absent when the inner store sees the names. */
  readonly names: NameTokens | undefined;
  /** True if plain text is read as it is. */
  readonly readsPlaintext: boolean;
}

/** A value that was opened. */
export interface OpenedValue {
  readonly name: string;
  readonly value: Json;
  /** The change that wrote it: of an encrypted value of an app or a user. */
  readonly stamp?: Stamp;
}

/** An event that was opened. */
export interface OpenedEvent {
  /** The text; `undefined` for the beginning of a session that was created without an event. */
  readonly data: string | undefined;
}

/** A text that UTF-8 cannot write. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Seals what goes into the inner store, and opens what comes out of it. */
export class Records {
  readonly #cipher: Cipher;
  readonly #names: NameTokens | undefined;
  readonly #readsPlaintext: boolean;

  constructor({ cipher, names, readsPlaintext }: RecordOptions) {
    this.#cipher = cipher;
    this.#names = names;
    this.#readsPlaintext = readsPlaintext;
  }

  /** The name under which the inner store has a value. */
  async nameOf(name: string, home: Home): Promise<string> {
    return this.#names === undefined ? name : this.#names.token(name, bindingOf(home, false));
  }

  /** True if plain text is read as it is. */
  get readsPlaintext(): boolean {
    return this.#readsPlaintext;
  }

  /**
   * Seals what is set, and names what is deleted as the inner store does. `stamp` is that of the change, which the
   * values of apps and users are sealed with.
   */
  async sealDelta({ set, unset }: Delta, home: Home, stamp: Stamp): Promise<Delta> {
    const [sealed, unsetNames] = await Promise.all([
      Promise.all(Object.keys(set ?? {}).map((name) => this.#sealValue(name, set?.[name] as Json, home, stamp))),
      Promise.all((unset ?? []).map((name) => this.nameOf(name, home))),
    ]);
    return defined({ set: set && valuesOf(sealed), unset: unset && unsetNames });
  }

  /** Opens all values of a scope. Throws `corrupt`. */
  async openValues(values: Values, home: Home): Promise<Values> {
    const names = Object.keys(values);
    const opened = await Promise.all(names.map((stored) => this.openValue(stored, values[stored] as Json, home)));
    return Object.freeze(valuesOf(opened.map(({ name, value }) => [name, value])));
  }

  /**
   * Opens what is set, and names what is deleted; `undefined` when there is only a token for a deleted name. Throws
   * `corrupt`.
   */
  async openDelta({ set = {}, unset = [] }: Delta, home: Home): Promise<Delta | undefined> {
    const stored = Object.keys(set);
    const opened = await Promise.all(stored.map((name) => this.openValue(name, set[name] as Json, home)));
    const names = new Map(stored.map((name, index) => [name, opened[index]?.name ?? name]));
    const unsetNames = unset.map((name) => (this.#names === undefined ? name : names.get(name)));
    return unsetNames.includes(undefined)
      ? undefined
      : {
          set: valuesOf(opened.map(({ name, value }) => [name, value])),
          unset: unsetNames.filter((name) => name !== undefined),
        };
  }

  /** Opens a write in a log. Each has a value, before or after, and the value its name. Throws `corrupt`. */
  async openWrite(
    { name: stored, from, to }: LogWrite,
    home: Home,
  ): Promise<{ readonly write: LogWrite; readonly stamp: Stamp | undefined }> {
    const open = async (value: Json | undefined): Promise<OpenedValue | undefined> =>
      value === undefined ? undefined : this.openValue(stored, value, home);
    const [before, after] = await Promise.all([open(from), open(to)]);
    const { name } = after ?? before ?? {};
    if (name === undefined) {
      throw new StoreError('corrupt', `a write of "${stored}" of ${titleOf(home)} has no value`);
    }
    const write = defined({ name, from: before?.value, to: after?.value });
    return { write, stamp: after?.stamp };
  }

  /**
   * Throws `corrupt` when there is something that operators came to beside the text of an event that is encrypted:
   * what is encrypted has no operators.
   */
  checkResults(stored: string, results: ScopedValues | undefined): void {
    if (results !== undefined && (isSealed(stored) || !this.#readsPlaintext)) {
      throw new StoreError('corrupt', 'the result of operators is not encrypted');
    }
  }

  /** Opens the value that is stored under this name. Throws `corrupt`. */
  async openValue(stored: string, value: Json, home: Home): Promise<OpenedValue> {
    const what = `the value "${stored}" of ${titleOf(home)}`;
    if (!isSealed(value)) {
      if (this.#readsPlaintext) {
        return { name: stored, value };
      }
      throw new StoreError('corrupt', `${what} is not encrypted`);
    }
    const text = await this.#cipher.open(value, this.#bindingOf(stored, home), what);
    const [content, stamp] = stamped(JSON.parse(text) as Json, home);
    if (this.#names === undefined) {
      return { name: stored, value: content, ...stamp };
    }
    const [fingerprint, name, inner] = content as readonly [string, string, Json];
    if (fingerprint !== (await this.#names.fingerprint())) {
      throw new StoreError('rejected', `${what} has been written with another name key`);
    }
    return { name, value: inner, ...stamp };
  }

  /** Seals the event that brings a session to this revision. Throws `rejected` for text that is not well-formed. */
  async sealEvent(
    { id, data }: NonNullable<Change['event']>,
    rev: number,
    key: SessionKey,
    created: string,
  ): Promise<string> {
    if (LONE_SURROGATE.test(data)) {
      throw new StoreError('rejected', `the text of event "${id}" is not well-formed Unicode`);
    }
    return this.#cipher.seal(`${JSON.stringify([rev, id])}\n${data}`, bindingOfEvents(key, created));
  }

  /** Seals that a session was created without an event. */
  async sealNoBeginning(id: string, key: SessionKey, created: string): Promise<string> {
    return this.#cipher.seal(JSON.stringify([0, id]), bindingOfEvents(key, created));
  }

  /**
   * Opens an event. Throws `corrupt` when it is not the one of this revision, or not the one with this id: an id that
   * the inner store has changed would let the same event in once more.
   */
  async openEvent(
    stored: string,
    expected: { readonly rev?: number; readonly id?: string },
    key: SessionKey,
    created: string,
  ): Promise<OpenedEvent> {
    const which = expected.rev === undefined ? `"${expected.id ?? ''}"` : `of revision ${expected.rev}`;
    const what = `the event ${which} of session "${key.sessionId}"`;
    if (!isSealed(stored)) {
      if (this.#readsPlaintext) {
        return { data: stored };
      }
      throw new StoreError('corrupt', `${what} is not encrypted`);
    }
    const text = await this.#cipher.open(stored, bindingOfEvents(key, created), what);
    const [header = ''] = text.split('\n', 1);
    const [rev, id] = JSON.parse(header) as readonly [number, string];
    if (rev !== (expected.rev ?? rev) || id !== (expected.id ?? id)) {
      throw new StoreError('corrupt', `${what} is in the place of another`);
    }
    return { data: header === text ? undefined : text.slice(header.length + 1) };
  }

  /** Seals the digest of a change. It belongs to this change alone, whatever becomes of it. */
  async sealDigest(digest: string, change: Pick<Change, 'id' | 'key'>): Promise<string> {
    return this.#cipher.seal(JSON.stringify(digest), bindingOfDigest(change));
  }

  /** Opens the digest of a change. Throws `corrupt`. */
  async openDigest(stored: string, change: Pick<Change, 'id' | 'key'>): Promise<string> {
    const what = `the digest of change "${change.id}"`;
    if (!isSealed(stored)) {
      if (this.#readsPlaintext) {
        return stored;
      }
      throw new StoreError('corrupt', `${what} is not encrypted`);
    }
    return JSON.parse(await this.#cipher.open(stored, bindingOfDigest(change), what)) as string;
  }

  async #sealValue(
    name: string,
    value: Json,
    home: Home,
    stamp: Stamp,
  ): Promise<readonly [name: string, value: Json]> {
    const stored = await this.nameOf(name, home);
    const content = this.#names === undefined ? value : [await this.#names.fingerprint(), name, value];
    const text = JSON.stringify(home.scope === 'session' ? content : [writeStamp(stamp), content]);
    return [stored, await this.#cipher.seal(text, this.#bindingOf(stored, home))];
  }

  /** The kind of a value says whether its name is encrypted with it. */
  #bindingOf(stored: string, home: Home): Binding {
    return [this.#names === undefined ? 'value' : 'named value', ...bindingOf(home, true), stored];
  }
}

/**
 * The identity of a home among all others. A name keeps its token in a session that is created anew, a value is not
 * taken over.
 */
function bindingOf(home: Home, withCreated: boolean): Binding {
  switch (home.scope) {
    case 'app':
      return ['app', home.app];
    case 'user':
      return ['user', home.app, home.user];
    case 'session': {
      const { appName, userId, sessionId } = home.key;
      return ['session', appName, userId, sessionId, ...(withCreated ? [home.created] : [])];
    }
  }
}

/** The events of a session belong to it alone, and to no other one that is created under its key. */
function bindingOfEvents({ appName, userId, sessionId }: SessionKey, created: string): Binding {
  return ['event', appName, userId, sessionId, created];
}

/** All attempts of a call have one id, and so has what is sent again. */
function bindingOfDigest({ id, key: { appName } }: Pick<Change, 'id' | 'key'>): Binding {
  return ['digest', appName, id];
}

/** Splits sealed content into the content itself and the stamp that values of apps and users are sealed with. */
function stamped(content: Json, { scope }: Home): readonly [Json, { readonly stamp?: Stamp }] {
  if (scope === 'session') {
    return [content, {}];
  }
  const [stamp, inner] = content as unknown as readonly [Parameters<typeof readStamp>[0], Json];
  return [inner, { stamp: readStamp(stamp) }];
}

/** The name of a home in messages. */
export function titleOf(home: Home): string {
  const { scope } = home;
  return `${scope} "${scope === 'app' ? home.app : scope === 'user' ? home.user : home.key.sessionId}"`;
}
