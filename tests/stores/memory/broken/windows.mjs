// Stores that are broken in which events of a session they show, and in what their caller knows already.

import { context, loading, without } from './ways.mjs';

/** A store that is asked something else. */
const window = (map) => (store) => ({
  load: (key, { events, ...query }) => store.load(key, events ? { ...query, events: map(events) } : query, context),
});

export const brokenWindows = {
  // Windows.
  'shows all events for the last none': window(({ last, ...rest }) => (last === 0 ? rest : { last, ...rest })),
  'begins behind from': window(({ from, ...rest }) => (from === undefined ? rest : { from: from + 1, ...rest })),
  'ends before to': window(({ to, ...rest }) => (to === undefined ? rest : { to: to - 1, ...rest })),
  'ignores to': window(without('to')),
  'ignores since': window(without('since')),
  'shows what is later than since': window(({ since, ...rest }) =>
    since === undefined
      ? rest
      : {
          since: since + 0.001,
          ...rest,
        },
  ),
  'takes since in whole milliseconds': window(({ since, ...rest }) =>
    since === undefined
      ? rest
      : {
          since: Math.ceil(since),
          ...rest,
        },
  ),
  'shows the first for the last': loading(async (loaded, { events: { last, ...rest } = {} }, store, key) =>
    last === undefined
      ? loaded
      : {
          ...loaded,
          events: (await store.load(key, { events: rest }, context)).events.slice(0, last),
        },
  ),
  'takes the last before it looks at the times': loading(
    async (loaded, { events: { last, since, ...rest } = {} }, store, key) => {
      const { events } = last === undefined ? loaded : await store.load(key, { events: { ...rest, last } }, context);
      return {
        ...loaded,
        events: events.filter((event) => loaded.events.some(({ rev }) => rev === event.rev) || since === undefined),
      };
    },
  ),
  'stops at the first event that is earlier': loading((loaded, { events: { since } = {} }) => {
    const { events } = loaded;
    const gap = events.findLastIndex(
      ({ rev }, index) => index + 1 < events.length && events[index + 1].rev !== rev + 1,
    );
    return since === undefined ? loaded : { ...loaded, events: events.slice(gap + 1) };
  }),
  'shows the newest event first': loading((loaded) => ({ ...loaded, events: loaded.events.toReversed() })),
  'shows a hundred events at most': loading((loaded) => ({ ...loaded, events: loaded.events.slice(-100) })),
  // The revision that the caller knows.
  'takes an equal revision for the same session': (store) => ({
    load: async (key, query) =>
      store.load(
        key,
        { ...query, known: { ...query.known, created: (await store.load(key, {}, context))?.created } },
        context,
      ),
  }),
  'always gives everything': (store) => ({ load: (key, query) => store.load(key, without('known')(query), context) }),
  'takes a later position for the known one': loading((loaded, { known }) =>
    known?.pos?.app === undefined || known.pos.app < 1 ? loaded : { ...loaded, state: without('app')(loaded.state) },
  ),
};
