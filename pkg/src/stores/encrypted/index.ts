/**
 * A store around another one, which gets to see neither events nor values: they are encrypted with AES-256-GCM before
 * they reach it. It uses WebCrypto, so it runs in Node, browsers and workers (in browsers on pages that come by
 * https). With keys of 32 bytes it uses Node's own functions where they are there: they make the same bytes in less
 * time.
 *
 * **The inner store sees** ids of apps, users, sessions, events and changes; times, revisions and positions; the names
 * of values, unless `names: 'encrypted'`; ids of keys; the numbers of values and events, which of them change
 * together, and their lengths. It does not see texts of events and values, nor the equality of two values, nor the
 * digests of requests: one of 43 characters (SHA-256) is then one of about 120, and twice the length of the key's id.
 *
 * **Detected**, and reported as `corrupt`: a value or an event that was changed, cut off, replaced by plain text, or
 * carried to another name, app, user, session, revision, or to a session that was created anew under the same key;
 * events that are missing, and the initial content of a session, unless they are requested by time. In the log of an
 * app or a user: a value that another change is said to have written (session, event, time), a value that stands in
 * the place of another one of its name, a change that is missing in front of a later one of that name, changes of one
 * session in another order, and a change at another position where the store was held to a position (an update that
 * depends on values). **Not detected:** a value that is deleted; a value that is put back to what it was earlier under
 * the same name; a session that is deleted, put back whole, or cut off at its end together with its revision; a user
 * or an app put back whole; in a log, that the newest changes of a name are missing, the order of changes of different
 * sessions, and that, when and by whom a value was deleted; times of sessions and events as the store sorts by them;
 * ends of sessions; a digest that is left out, and users, apps and owners of an id that are missing or made up.
 *
 * **Unreadable records.** `load` throws `corrupt` when anything it was to answer cannot be read. `list` reports a
 * session that cannot be read in `corrupt`, all sessions of a user whose values cannot be read as well, and goes on
 * with the others; it throws `corrupt` when the values of the app cannot be read. Nothing is written because of it. A
 * change that sets or deletes the name of an unreadable value puts an end to it, and so does `removeScope`.
 *
 * **Missing keys.** Records that were encrypted with a key that is not in the options throw `rejected`, naming the
 * key's id: nothing is damaged, the keys are not right. A wrong key under the right id cannot be told from damage:
 * `corrupt`.
 *
 * **Sizes.** A value or an event takes 4/3 of its bytes and about 60 more, a value of an app or a user about 200 more:
 * it says which change wrote it. The inner store's own limits shrink by that. `StoreLimits` are compared with what is
 * stored, too: `state` counts sealed values under the names that the inner store sees (`lacks` has `sizes`). A value
 * of 100 bytes counts as about 200 in a session and 350 in an app. `keys` and `events` are those of the caller.
 *
 * **Expiry** is that of the inner store, which has the ends of sessions as they are, and so is a sweep.
 *
 * @packageDocumentation
 */

import { defined } from '../../model/defined.js';
import { StatepadError } from '../../model/errors.js';
import { isStoreError } from '../../store/store-error.js';
import { Attempts } from './attempt.js';
import { Cipher } from './cipher.js';
import { Commits } from './commit.js';
import { Keyring } from './keys.js';
import { openLog } from './log.js';
import { nameTokens } from './names.js';
import { checkArguments, type EncryptedStoreOptions } from './options.js';
import { openLoaded, openPage } from './read.js';
import { homeOfScope, Records } from './records.js';
import { SHARED_SCOPES, type SharedScope } from '../../model/scope.js';
import type { Known, Loaded, LoadQuery, SessionStore, StoreLack } from '../../store/contract.js';

export { isSealed } from './cipher.js';
export type { FindKey, KeyMaterial, NamedKey, WebCryptoKey } from './keys.js';
export type { EncryptedStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/**
 * Makes a store that keeps everything encrypted in another one. It has the members that the other one has. Throws
 * `INVALID_ARGUMENT` when the arguments do not suit.
 *
 * - `commit` writes an event for one revision, to which it is bound. When another writer was faster it is encrypted
 *   anew, for the next one, up to 1,000 times with pauses of up to 50 ms; then it throws `unavailable`.
 * - `guard.keys` are compared here, as the inner store cannot: it reads the scope, and writes if nothing has changed
 *   in that scope since. When other names of the scope have, it reads again, up to 100 times; then it throws
 *   `conflict`.
 * - `commitMany` writes changes that are guarded by `guard.keys` one by one.
 * - Operators (`resolves`) are left to the service: the inner store cannot add to what it cannot read.
 * - `lease`, `readLease`, `claim` and `guard.fence` are those of the inner store, and so are `sweep`, `owners`,
 *   `listApps` and `listUsers`: it has ids, times and the names of apps and users as they are.
 */
export function encryptedStore(inner: SessionStore, options: EncryptedStoreOptions): SessionStore {
  checkArguments(inner, options);
  const records = recordsOf(options);
  // Of a name that is deleted only the token is known where names are encrypted.
  const keeps = options.nameKey === undefined ? inner.keeps : inner.keeps?.filter((feature) => feature !== 'changed');
  const attempts = new Attempts(inner, records);
  const commits = new Commits(inner, records, attempts);
  const load: SessionStore['load'] = async (key, query, context) => {
    const loaded = await inner.load(key, query, context);
    attempts.saw(key, loaded ?? undefined);
    return loaded && openLoaded(records, loaded, key, query);
  };
  const store: SessionStore = {
    ...passedOn(inner),
    ...defined({ keeps, lacks: lacksOver(inner) }),
    commit: (change, context) => commits.commit(change, context),
    ...(inner.commitMany && { commitMany: (changes, context) => commits.commitMany(changes, context) }),
    load: async (key, query, context) => {
      const opened = await load(key, query, context);
      const isWhole = opened === null || SHARED_SCOPES.every((scope) => isReported(opened, query, scope));
      // A deleted name of which only the token is known: all values are asked for.
      return isWhole ? opened : load(key, { ...query, known: withoutScopes(query.known) }, context);
    },
    list: async (query, context) => openPage(records, await inner.list(query, context), query.app),
    remove: async (key, context, guard) => {
      attempts.saw(key, undefined);
      await inner.remove(key, context, guard);
    },
    loadScope: async (scope, context) => {
      const loaded = await inner.loadScope(scope, context);
      return { ...loaded, state: await records.openValues(loaded.state, homeOfScope(scope)) };
    },
    ...(inner.readLog && { readLog: logReader(inner.readLog.bind(inner), records) }),
  };
  if ('durability' in inner) {
    // Some stores know it only when they are open.
    Object.defineProperty(store, 'durability', { get: () => inner.durability, enumerable: true });
  }
  return store;
}

/** Seals and opens records with the keys of the options. Throws `INVALID_ARGUMENT` for keys that do not suit. */
function recordsOf({ keys, current, nameKey, plaintext }: EncryptedStoreOptions): Records {
  try {
    const cipher = new Cipher(new Keyring(defined({ keys, current })));
    return new Records({ cipher, names: nameKey && nameTokens(nameKey), readsPlaintext: plaintext === 'read' });
  } catch (error) {
    if (isStoreError(error)) {
      throw new StatepadError('INVALID_ARGUMENT', error.message, { path: 'keys', cause: error });
    }
    throw error;
  }
}

/**
 * True if an answer has the values of a scope, or the changes that led to them; or the caller has them, as its
 * position is the same.
 */
function isReported({ state, changed, pos }: Loaded, { known }: LoadQuery, scope: SharedScope): boolean {
  return state[scope] !== undefined || changed?.[scope] !== undefined || known?.pos?.[scope] === pos[scope];
}

/** The caller's knowledge of the session alone. */
function withoutScopes({ created, rev, last }: Known = {}): Known {
  return defined({ created, rev, last });
}

/** Reads a log in plain text. Its names are those under which the inner store has them. */
function logReader(
  readLog: NonNullable<SessionStore['readLog']>,
  records: Records,
): NonNullable<SessionStore['readLog']> {
  return async (scope, { name, ...query }, context) => {
    const home = homeOfScope(scope);
    const stored = name === undefined ? {} : { name: await records.nameOf(name, home) };
    return openLog(records, await readLog(scope, { ...query, ...stored }, context), home);
  };
}

/** The abilities that the inner store lacks; and sizes, where it compares limits with what is sealed. */
function lacksOver({ lacks = [], keeps = [] }: SessionStore): readonly StoreLack[] | undefined {
  const all: readonly StoreLack[] = keeps.includes('limits') ? [...lacks, 'sizes'] : lacks;
  return all.length === 0 ? undefined : all;
}

/** The members with nothing to encrypt. */
function passedOn(inner: SessionStore): Partial<SessionStore> {
  return defined({
    owners: inner.owners?.bind(inner),
    listApps: inner.listApps?.bind(inner),
    listUsers: inner.listUsers?.bind(inner),
    removeScope: inner.removeScope?.bind(inner),
    lease: inner.lease?.bind(inner),
    readLease: inner.readLease?.bind(inner),
    sweep: inner.sweep?.bind(inner),
    claim: inner.claim?.bind(inner),
    trimLog: inner.trimLog?.bind(inner),
    reserve: inner.reserve?.bind(inner),
    watch: inner.watch?.bind(inner),
    open: inner.open?.bind(inner),
    close: inner.close?.bind(inner),
    exclusive: inner.exclusive,
    parallelCommits: inner.parallelCommits,
  });
}
