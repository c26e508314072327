// One figure: how many commits a second, each an event with three keys, one of the session, one of the user, one of
// the app.

import { randomUUID } from 'node:crypto';
import { makeEvent } from '../workload.mjs';

/** An event of its own id: ids are not to be met twice in a session. */
const event = (number) => ({ ...makeEvent(number + 1), id: randomUUID() });

/** A session with a history, through `service`. */
async function sessionOf(service, sessionId, length) {
  const session = await service.createSession({ appName: 'bench', userId: `user-${sessionId}`, sessionId });
  for (let number = 0; number < length; number += 1) {
    await service.appendEvent({ session, event: event(number) });
  }
  return session;
}

/** A contestant with its database and the sessions in it. They are made once: to make a long history takes long. */
export class Bench {
  #database;
  #service;
  #other;
  #sessions = new Map();

  constructor(contestant) {
    this.#database = contestant.open();
  }

  /**
   * Appends for `time` milliseconds, to as many sessions at once as `inFlight` says, each with `history` events before
   * it was first used here. With `stale`, two services take turns, so that what each remembers of the session is
   * behind. Answers how many commits there were in how many milliseconds.
   */
  async commits({ inFlight = 1, history = 10, stale = false, time }) {
    const sessions = [];
    for (let number = 0; number < inFlight; number += 1) {
      sessions.push([await this.#session(`s${number}-${history}`, history)]);
    }
    if (stale) {
      this.#other ??= this.#database.connect();
      const { appName, userId, id: sessionId } = sessions[0][0].session;
      sessions[0].push({
        service: this.#other,
        session: await this.#other.getSession({ appName, userId, sessionId }),
      });
    }
    const started = performance.now();
    let count = 0;
    const run = async (handles) => {
      // At least twice each, however slow.
      for (let number = 0; number < 2 * handles.length || performance.now() - started < time; number += 1) {
        const { service, session } = handles[number % handles.length];
        await service.appendEvent({ session, event: event(number) });
        count += 1;
      }
    };
    await Promise.all(sessions.map(run));
    return { count, took: performance.now() - started };
  }

  async close() {
    await this.#database.close();
  }

  async #session(name, history) {
    if (this.#service === undefined) {
      this.#service = this.#database.connect();
      // A database makes its tables at the first call, and not at several at once.
      await this.#service.getSession({ appName: 'bench', userId: 'nobody', sessionId: 'none' });
    }
    const service = this.#service;
    if (!this.#sessions.has(name)) {
      this.#sessions.set(name, await sessionOf(service, name, history));
    }
    return { service, session: this.#sessions.get(name) };
  }
}
