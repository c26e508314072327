// The users of a session's id, and the lists of apps and of users.

import { APP, KEY, USER, answer, change, featureCase, keyOf, set, step, storeCase, times } from '../build/index.js';
import { IDS, TEXTS, inByteOrder } from '../edge-values.js';
import type { NameQuery } from '../../store/contract.js';
import type { ListAppsStep, ListUsersStep, StoreCase, StoreStep } from '../case.js';

/** Creates a session of a user. */
function create(
  sessionId: string,
  userId = USER,
  appName = APP,
  id = `c-${appName}-${userId}-${sessionId}`,
): StoreStep {
  return step.commit(change.create(id, {}, { key: keyOf(sessionId, userId, appName) }));
}

/** The page of a list that has all these names. */
type PageStep = (names: readonly string[], query?: NameQuery, more?: boolean) => StoreStep;

/** Reads a list as a whole, from behind each of its names, and in pages of some lengths. */
function readings(names: readonly string[], page: PageStep, lengths: readonly number[]): StoreStep[] {
  return [
    page(names),
    page(names, { limit: names.length }),
    page(names, { limit: names.length + 1 }),
    ...names.map((after, index) => page(names.slice(index + 1), { after })),
    ...lengths.flatMap((limit) =>
      times(Math.ceil(names.length / limit), (place) => {
        const start = place * limit;
        const after = names[start - 1];
        return page(
          names.slice(start, start + limit),
          { limit, ...(after !== undefined && { after }) },
          start + limit < names.length,
        );
      }),
    ),
  ];
}

/** A list with the name, or without it. */
function withOrWithout<Step extends ListAppsStep | ListUsersStep>(listed: Step, unlisted: Step): Step {
  return { ...listed, or: [unlisted.answer] };
}

const shuffled = IDS.map((_, index) => IDS[(index * 7 + 3) % IDS.length] ?? '');
const usersOf =
  (app: string): PageStep =>
  (names, query, more) =>
    step.users(names, query, more, app);

const ownerCases: readonly StoreCase[] = [
  storeCase(
    'the owners of an id are the users that have a session with it: none, one or several',
    step.owners([]),
    create('session', 'one'),
    create('other', 'two'),
    step.owners(['one']),
    step.owners(['two'], 'other'),
    step.owners([], 'sess'),
    step.owners([], 'session-2'),
    create('session', 'three'),
    create('session', 'two'),
    create('session-2', 'four'),
    step.owners(['one', 'three', 'two']),
    step.owners(['two'], 'other'),
    step.owners(['four'], 'session-2'),
  ),
  storeCase(
    'the owners of an id are those in one app',
    create('session', 'one', 'a'),
    create('session', 'two', 'b'),
    create('session', 'one', 'ab'),
    step.owners(['one'], 'session', 'a'),
    step.owners(['two'], 'session', 'b'),
    step.owners(['one'], 'session', 'ab'),
    step.owners([], 'session', 'abc'),
    step.owners([]),
  ),
  storeCase(
    'a user owns an id until the session is removed, and again once it is created anew',
    create('session', 'one'),
    create('session', 'two'),
    create('session', 'three'),
    step.commit(change.append('e1', {}, { key: keyOf('session', 'two') }), answer.appended(1)),
    step.owners(['one', 'three', 'two']),
    { remove: keyOf('session', 'two') },
    step.owners(['one', 'three']),
    { remove: keyOf('session', 'one') },
    { remove: keyOf('session', 'nobody') },
    step.owners(['three']),
    create('session', 'two', APP, 'again'),
    step.owners(['three', 'two']),
    { remove: keyOf('session', 'two') },
    { remove: keyOf('session', 'three') },
    step.owners([]),
  ),
  storeCase(
    'owners are sorted by UTF-8 bytes, whatever their names are',
    ...shuffled.map((user) => create('session', user)),
    step.owners(IDS),
    ...IDS.filter((_, index) => index % 2 === 0).map((user) => ({ remove: keyOf('session', user) })),
    step.owners(IDS.filter((_, index) => index % 2 === 1)),
  ),
  storeCase(
    'ids of sessions that look alike have owners of their own',
    ...TEXTS.map((id, index) => create(id, `user-${index}`, APP, `c${index}`)),
    ...TEXTS.map((id, index) => step.owners([`user-${index}`], id)),
  ),
  storeCase(
    'a session in an app of any name has its owner there alone',
    ...TEXTS.map((app, index) => create('session', `user-${index}`, app, `c${index}`)),
    ...TEXTS.map((app, index) => step.owners([`user-${index}`], 'session', app)),
  ),
  storeCase(
    'who has values and no session owns none',
    step.commit(change.update('u1', { user: set('a', 1), app: set('session', 1) }), answer.made(1, 1)),
    step.owners([]),
    step.commit(change.create('c', { user: set('a', 2) }), answer.made(1, 2)),
    step.commit(change.create('d', {}, { key: keyOf('x', 'other') }), answer.made(1)),
    step.owners([USER]),
  ),
  storeCase(
    'a creation that is refused makes no owner',
    create('session', 'one'),
    step.commit(change.create('late', {}, { key: keyOf('session', 'one') }), { throws: 'exists' }),
    step.commit(change.create('c', {}, { key: keyOf('session', 'two'), guard: { keys: { app: set('a', 1) } } }), {
      throws: 'conflict',
    }),
    step.owners(['one']),
  ),
  featureCase(
    'creations',
    'neither a removal for another session nor a creation that is sent again changes the owners',
    step.commit(change.create('c'), answer.made()),
    { remove: KEY, created: 'x' },
    step.owners([USER]),
    { remove: KEY, created: 'c' },
    step.commit(change.create('c', {}, { attempt: 2 }), answer.again(0)),
    step.owners([]),
    step.commit(change.create('d'), answer.made()),
    { remove: KEY, created: 'c' },
    step.owners([USER]),
  ),
  storeCase(
    'owners of sessions that are created together are known at once',
    {
      commitMany: ['b', 'a', 'c'].map((user) => change.create(user, {}, { key: keyOf('session', user) })),
      outcomes: times(3, () => answer.made()),
    },
    step.owners(['a', 'b', 'c']),
  ),
  storeCase(
    'owners are those of all stores on the storage',
    create('session', 'one'),
    { ...step.owners(['one']), by: 'another' },
    { ...create('session', 'two'), by: 'another' },
    step.owners(['one', 'two']),
    { remove: keyOf('session', 'one'), by: 'another' },
    step.owners(['two']),
    { ...step.owners(['two']), by: 'another' },
  ),
  storeCase(
    'owners stay when the storage is opened again',
    create('session', 'one'),
    create('session', 'two'),
    create('session', 'three'),
    { remove: keyOf('session', 'three') },
    { reopen: 'check' },
    step.owners(['one', 'two']),
    create('session', 'four'),
    { remove: keyOf('session', 'one') },
    step.owners(['four', 'two']),
  ),
];

const userCases: readonly StoreCase[] = [
  storeCase(
    'the users in an app are those who have a session',
    step.users([]),
    create('s1', 'two'),
    create('s2', 'two'),
    create('s3', 'one'),
    create('s1', 'elsewhere', 'other'),
    step.commit(change.append('e1', {}, { key: keyOf('s1', 'two') }), answer.appended(1)),
    step.users(['one', 'two']),
    step.users(['elsewhere'], {}, false, 'other'),
    step.users([], {}, false, 'ap'),
    step.users([], {}, false, 'nowhere'),
  ),
  storeCase(
    'and those who have values, also without a session',
    step.commit(change.update('u1', { user: set('a', 1) }, { key: { appName: APP, userId: 'values' } })),
    step.commit(change.update('u2', { app: set('a', 1) }, { key: { appName: APP } })),
    step.users(['values']),
    create('s1', 'sessions'),
    step.commit(change.create('c', { user: set('a', 1) }, { key: keyOf('s1', 'both') })),
    step.users(['both', 'sessions', 'values']),
    { remove: keyOf('s1', 'both') },
    step.users(['both', 'sessions', 'values']),
  ),
  storeCase(
    'users are listed by UTF-8 bytes, and page by page, whatever their names are',
    ...shuffled.map((user) => create('session', user)),
    ...readings(IDS, step.users, [1, 4, 25]),
    step.users(['a'], { after: '`', limit: 1 }, true),
    step.users(['aa', 'b'], { after: 'a\u0000', limit: 2 }, true),
    step.users(IDS.slice(-1), { after: '😀\u{10ffff}' }),
    step.users([], { after: '\u{10ffff}x', limit: 1 }),
  ),
  storeCase(
    'a page of users has its length however many sessions each has',
    ...times(60, (index) => create(`s${index}`, `user-${index % 4}`, APP, `c${index}`)),
    ...readings(
      times(4, (index) => `user-${index}`),
      step.users,
      [1, 2, 3],
    ),
  ),
  storeCase(
    'the users in an app of any name are listed, and those of no other app',
    ...shuffled.map((app, index) => create('session', `user-${index}`, app, `c${index}`)),
    ...shuffled.map((app, index) => usersOf(app)([`user-${index}`])),
  ),
  storeCase(
    'a user who has lost all sessions and values may be listed, and surely is with a new one',
    create('s1', 'one'),
    create('s1', 'two'),
    create('s1', 'three'),
    { remove: keyOf('s1', 'three') },
    withOrWithout(step.users(['one', 'three', 'two']), step.users(['one', 'two'])),
    withOrWithout(step.users(['three'], { after: 'one', limit: 1 }, true), step.users(['two'], { after: 'one' })),
    step.users(['two'], { after: 'three', limit: 1 }),
    create('s2', 'three'),
    step.users(['one', 'three', 'two']),
    step.commit(change.update('u1', { user: set('a', 1) }, { key: { appName: APP, userId: 'four' } })),
    step.commit(change.update('u2', { user: { unset: ['a'] } }, { key: { appName: APP, userId: 'four' } })),
    withOrWithout(step.users(['four', 'one', 'three', 'two']), step.users(['one', 'three', 'two'])),
    step.commit(change.update('u3', { user: set('a', 1) }, { key: { appName: APP, userId: 'four' } })),
    step.users(['four', 'one', 'three', 'two']),
  ),
  storeCase(
    'a user whose values are removed stays listed with a session',
    step.commit(change.create('c', { user: set('a', 1) }), answer.made(0, 1)),
    create('s1', 'other'),
    { removeScope: { app: APP, user: USER } },
    step.users(['other', USER]),
  ),
  storeCase(
    'users are listed when they come together, by all stores, and when the storage is opened again',
    {
      commitMany: ['b', 'a', 'c'].map((user) => change.create(user, {}, { key: keyOf('session', user) })),
      outcomes: times(3, () => answer.made()),
    },
    { ...step.users(['a', 'b'], { limit: 2 }, true), by: 'another' },
    { ...create('session', 'aa'), by: 'another' },
    step.users(['a', 'aa', 'b', 'c']),
    { reopen: 'check' },
    step.users(['aa', 'b'], { after: 'a', limit: 2 }, true),
  ),
  storeCase(
    'a long list of users can be read at once and page by page',
    ...times(130, (index) => create(`s${index}`, `user-${(index * 37) % 130}`)),
    ...longPages(inByteOrder(times(130, (index) => `user-${index}`)), step.users),
  ),
];

const appCases: readonly StoreCase[] = [
  storeCase(
    'the apps are those that have a session',
    step.apps([]),
    create('s1', USER, 'two'),
    create('s2', 'other', 'two'),
    create('s1', USER, 'one'),
    step.commit(change.append('e1', {}, { key: keyOf('s1', USER, 'two') }), answer.appended(1)),
    step.apps(['one', 'two']),
  ),
  storeCase(
    'and those that have values, or a user who has some',
    step.commit(change.update('u1', { app: set('a', 1) }, { key: { appName: 'values' } }), answer.made(1)),
    step.apps(['values']),
    step.commit(
      change.update('u2', { user: set('a', 1) }, { key: { appName: 'user-values', userId: USER } }),
      answer.made(0, 1),
    ),
    create('s1', USER, 'sessions'),
    step.apps(['sessions', 'user-values', 'values']),
  ),
  storeCase(
    'apps are listed by UTF-8 bytes, and page by page, whatever their names are',
    ...shuffled.map((app) => create('session', USER, app)),
    ...readings(IDS, step.apps, [1, 4, 25]),
    step.apps(['a'], { after: '`', limit: 1 }, true),
    step.apps(['aa', 'b'], { after: 'a\u0000', limit: 2 }, true),
    step.apps([], { after: '\u{10ffff}x', limit: 1 }),
  ),
  storeCase(
    'a page of apps has its length however many users and sessions each has',
    ...times(60, (index) => create(`s${index}`, `user-${index % 12}`, `app-${index % 4}`, `c${index}`)),
    ...readings(
      times(4, (index) => `app-${index}`),
      step.apps,
      [1, 2, 3],
    ),
  ),
  storeCase(
    'an app that has lost everything may be listed, and surely is with a new session',
    create('s1', USER, 'one'),
    create('s1', USER, 'two'),
    create('s1', USER, 'three'),
    { remove: keyOf('s1', USER, 'three') },
    withOrWithout(step.apps(['one', 'three', 'two']), step.apps(['one', 'two'])),
    withOrWithout(step.apps(['three'], { after: 'one', limit: 1 }, true), step.apps(['two'], { after: 'one' })),
    step.apps(['two'], { after: 'three', limit: 1 }),
    create('s2', USER, 'three'),
    step.apps(['one', 'three', 'two']),
  ),
  storeCase(
    'an app is listed with the values of a user when its own are deleted',
    step.commit(change.update('u1', { app: set('a', 1), user: set('a', 1) }), answer.made(1, 1)),
    step.commit(change.update('u2', { app: { unset: ['a'] } }), answer.made(2, 1)),
    step.apps([APP]),
  ),
  storeCase(
    'apps are listed when they come together, by all stores, and when the storage is opened again',
    {
      commitMany: ['b', 'a', 'c'].map((app) => change.create(app, {}, { key: keyOf('session', USER, app) })),
      outcomes: times(3, () => answer.made()),
    },
    { ...step.apps(['a', 'b'], { limit: 2 }, true), by: 'another' },
    { ...create('session', USER, 'aa'), by: 'another' },
    step.apps(['a', 'aa', 'b', 'c']),
    { reopen: 'check' },
    step.apps(['aa', 'b'], { after: 'a', limit: 2 }, true),
  ),
  storeCase(
    'a long list of apps can be read at once and page by page',
    ...times(130, (index) => create('s1', USER, `app-${(index * 37) % 130}`)),
    ...longPages(inByteOrder(times(130, (index) => `app-${index}`)), step.apps),
  ),
];

function longPages(names: readonly string[], page: PageStep): StoreStep[] {
  return [
    page(names),
    ...times(Math.ceil(names.length / 37), (place) => {
      const after = names[place * 37 - 1];
      return page(
        names.slice(place * 37, (place + 1) * 37),
        { limit: 37, ...(after !== undefined && { after }) },
        (place + 1) * 37 < names.length,
      );
    }),
  ];
}

export const nameCases: readonly StoreCase[] = [...ownerCases, ...userCases, ...appCases];
