/**
 * Runs an agent tree through ADK's Runner, on statepad or on ADK's own service, and makes what was stored comparable.
 */
import assert from 'node:assert/strict';
import { InMemorySessionService, LogLevel, Runner, setLogLevel } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';

setLogLevel(LogLevel.ERROR);

const UUID = /(?:\w+-)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu;

/** The key of the session that every test talks to. */
export const KEY = Object.freeze({ appName: 'shop', userId: 'ana', sessionId: 's1' });

/**
 * @typedef {import('@google/adk').Event} Event
 * @typedef {ConstructorParameters<typeof Runner>[0]} RunnerOptions
 * @typedef {Omit<RunnerOptions, 'sessionService' | 'appName'>
 *   & { sessionService?: import('@google/adk').BaseSessionService, state?: Record<string, unknown>,
 *     key?: typeof KEY, again?: boolean }} Setting
 */

/**
 * Creates a session, unless it was opened before (`again`), and a runner over it.
 *
 * @param {Setting} setting
 */
export async function open(setting) {
  const { sessionService = new StatepadSessionService(), state, key = KEY, again = false, ...options } = setting;
  const runner = new Runner({ appName: key.appName, sessionService, ...options });
  if (!again) await sessionService.createSession({ ...key, ...(state === undefined ? {} : { state }) });

  /** The session as the service has it now. */
  const stored = async () => {
    const session = await sessionService.getSession(key);
    if (session === undefined) throw new Error('the session is gone');
    return session;
  };

  return {
    runner,
    service: sessionService,
    stored,

    /**
     * Sends a message and waits for the events that the run yields.
     *
     * @param {string | import('@google/genai').Part[]} message
     * @param {Partial<Parameters<Runner['runAsync']>[0]>} [more]
     */
    async turn(message, more = {}) {
      /** @type {Event[]} */
      const events = [];
      const parts = typeof message === 'string' ? [{ text: message }] : message;
      const run = runner.runAsync({
        userId: key.userId,
        sessionId: key.sessionId,
        newMessage: { role: 'user', parts },
        ...more,
      });
      for await (const event of run) events.push(event);
      return events;
    },

    /** The stored state as a plain record. */
    async state() {
      return { ...(await stored()).state };
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof open>>} Opened */

/**
 * Plays the same on statepad and on ADK's own service and hands back what each of them then has stored.
 *
 * @param {() => Setting} setting made anew for each, because an agent tree has state of its own
 * @param {(opened: Opened) => Promise<unknown>} [play] by default one turn
 */
export async function onBoth(setting, play = ({ turn }) => turn('go')) {
  /** @param {import('@google/adk').BaseSessionService} sessionService */
  const on = async (sessionService) => {
    const opened = await open({ ...setting(), sessionService });
    await play(opened);
    const { events } = await opened.stored();
    return { events: comparable(events), state: await opened.state() };
  };
  return { statepad: await on(new StatepadSessionService()), adk: await on(new InMemorySessionService()) };
}

/**
 * Plays the same on both: what each has stored has to be the same, and is handed back.
 *
 * @param {() => Setting} setting @param {(opened: Opened) => Promise<unknown>} [play]
 */
export async function sameOnBoth(setting, play) {
  const { statepad, adk } = await onBoth(setting, play);
  assert.deepEqual(statepad, adk);
  return statepad;
}

/**
 * Events as JSON without what differs from run to run: ids are numbered in the order in which they are met, and
 * times are left out.
 *
 * @param {readonly unknown[]} events
 */
export function comparable(events) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  /** @param {string} id */
  const number = (id) => ids.get(id) ?? ids.set(id, `#${ids.size + 1}`).get(id) ?? id;
  /** @param {string} key @param {unknown} value */
  const replacer = (key, value) => {
    if (key === 'timestamp' || key === 'startTime' || key === 'endTime') return undefined;
    return key === 'id' && typeof value === 'string' ? number(value) : value;
  };
  return /** @type {unknown[]} */ (JSON.parse(JSON.stringify(events, replacer).replace(UUID, number)));
}

/**
 * Every text of the events with its author, for a short look at a log.
 *
 * @param {readonly Event[]} events
 */
export function said(events) {
  return events.flatMap(({ author, content }) =>
    (content?.parts ?? []).flatMap((part) => (part.text === undefined ? [] : `${author}: ${part.text}`)),
  );
}
