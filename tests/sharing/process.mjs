// One of several processes over one database: it does what its parent asks. See processes.mjs.

import { openService } from './places.mjs';

let opened;
/** The handle of each session that this process has. */
const handles = new Map();

const answers = {
  async open(place) {
    opened = await openService(place);
  },

  async create(request) {
    await opened.service.createSession(request);
  },

  /** Appends events through a handle that this process keeps, `atOnce` at a time. Says which were acknowledged. */
  async append({ key, events, atOnce }) {
    const name = JSON.stringify(key);
    if (!handles.has(name)) {
      handles.set(name, await opened.service.getSession(key));
    }
    const session = handles.get(name);
    return await severally(events, atOnce, async ({ id, delta }) => {
      await opened.service.appendEvent({ session, event: opened.eventOf(id, delta) });
      return id;
    });
  },

  /** Counts a key up so many times, `atOnce` at a time. Says what it came to each time. */
  async count({ target, key, times, atOnce }) {
    const next = (state) => ({ [key]: Number(state[key] ?? 0) + 1 });
    return await severally(
      Array.from({ length: times }),
      atOnce,
      async () => (await opened.service.updateState(target, next))[key],
    );
  },

  /** The content that the handle shows without a request to anybody. */
  async shown(key) {
    return contents(handles.get(JSON.stringify(key)));
  },

  async read(key) {
    return contents(await opened.service.getSession(key));
  },

  async end() {
    handles.clear();
    await opened.end();
  },
};

function contents({ events, state, revision }) {
  return { ids: events.map(({ id }) => id), state: { ...state }, revision };
}

/** Runs a task for each item, so many at a time, and goes on when one fails. */
async function severally(items, atOnce, task) {
  const [acknowledged, rejected] = [[], []];
  const waiting = items.values();
  const work = async () => {
    for (const item of waiting) {
      try {
        acknowledged.push(await task(item));
      } catch (error) {
        rejected.push(`${error.code ?? error.name}: ${error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { acknowledged, rejected };
}

process.on('message', async ({ number, what, args }) => {
  try {
    process.send({ number, answer: await answers[what](...args) });
  } catch (error) {
    process.send({ number, error: error.stack });
  }
});
process.on('disconnect', () => process.exit());
