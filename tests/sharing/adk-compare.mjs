// Appends that two processes make at the same time: ours beside ADK's DatabaseSessionService.
//
//   node tests/sharing/adk-compare.mjs [appends of each process]
//
// Each process appends one event after the other through one handle, and goes on when one is refused. What was
// acknowledged and is not there afterwards, its event or its key, is lost.

import { fileURLToPath } from 'node:url';
import { postgresServer, sqliteFiles } from './databases.mjs';
import { openService } from './places.mjs';
import { startProcesses } from './processes.mjs';

const keyOf = (sessionId) => ({ appName: 'a', userId: 'u', sessionId });

/** The session that each case appends to, and the prefix of its keys. */
const cases = {
  'a session each, distinct app: keys': { sessionOf: (process) => keyOf(`s${process}`), prefix: 'app:' },
  'a session each, distinct user: keys': { sessionOf: (process) => keyOf(`s${process}`), prefix: 'user:' },
  'one session, distinct keys': { sessionOf: () => keyOf('s'), prefix: '' },
};

/** Lets two processes append `times` events each. */
async function compareOne(processes, place, { sessionOf, prefix }, times) {
  await processes.all('open', place);
  try {
    const keys = new Map([0, 1].map((process) => [sessionOf(process).sessionId, sessionOf(process)]));
    for (const key of keys.values()) {
      await processes.first('create', key);
    }
    const eventsOf = (process) =>
      Array.from({ length: times }, (_, number) => `p${process}-${number}`).map((id) => ({
        id,
        delta: { [prefix + id]: id },
      }));
    const start = performance.now();
    const told = await processes.all('append', (process) => ({
      key: sessionOf(process),
      events: eventsOf(process),
      atOnce: 1,
    }));
    const seconds = (performance.now() - start) / 1000;

    const fresh = await openService(place);
    let lost = 0;
    try {
      for (const process of [0, 1]) {
        const { events, state } = await fresh.service.getSession(sessionOf(process));
        const there = new Set(events.map(({ id }) => id));
        lost += told[process].acknowledged.filter((id) => !there.has(id) || state[prefix + id] !== id).length;
      }
    } finally {
      await fresh.end();
    }
    const [acknowledged, rejected] = ['acknowledged', 'rejected'].map((part) => told.flatMap((each) => each[part]));
    const reason = rejected[0]?.replace(/^[\s\S]* - /, '').slice(0, 60);
    return {
      asked: 2 * times,
      acknowledged: acknowledged.length,
      rejected: rejected.length,
      lost,
      'per second': Math.round(acknowledged.length / seconds),
      reason,
    };
  } finally {
    await processes.all('end');
  }
}

/** One row for each database, service and case. Where there is no Postgres, there are no rows for it. */
export async function compare(times) {
  const processes = startProcesses(2);
  const databases = { sqlite: sqliteFiles({ onDisk: true }), postgres: await postgresServer() };
  const rows = [];
  try {
    for (const [database, { skip, newPlace }] of Object.entries(databases)) {
      for (const [name, each] of skip ? [] : Object.entries(cases)) {
        for (const service of ['statepad', 'ADK']) {
          const kind = service === 'ADK' ? `ADK, ${database}` : database;
          rows.push({ database, case: name, service, ...(await compareOne(processes, newPlace(kind), each, times)) });
        }
      }
    }
  } finally {
    await processes.stop();
    await Promise.all(Object.values(databases).map(({ stop }) => stop?.()));
  }
  return rows;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const times = Number(process.argv[2] ?? 200);
  console.log(`two processes at the same time, ${times} appends each`);
  console.table(await compare(times));
}
