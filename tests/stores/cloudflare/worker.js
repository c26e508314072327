// The worker that the store cases run in: real D1 and real Durable Objects, inside workerd.

import { DurableObject } from 'cloudflare:workers';
import { SessionService } from 'statepad';
import { d1Store, durableObjectStore } from 'statepad/stores/cloudflare';
import { runStoreCase, storeCases } from 'statepad/testing';
import * as d1Tests from './d1.js';
import * as objectTests from './object.js';

/** A signal can be made in a request only. */
const contextNow = () => ({ signal: new AbortController().signal });

/** Storage of D1: all tables are dropped first. */
async function freshD1(env) {
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'statepad%'`,
  ).all();
  if (results.length > 0) {
    await env.DB.batch(results.map(({ name }) => env.DB.prepare(`DROP TABLE "${name}"`)));
  }
}

/** Answers what came of a test: its answer, or the error as text. */
async function outcome(run) {
  try {
    return globalThis.Response.json({ answer: (await run()) ?? null });
  } catch (error) {
    return globalThis.Response.json({ error: `${error?.message ?? error}` });
  }
}

async function runCase(name, open) {
  const storeCase = storeCases.find((each) => each.name === name);
  if (storeCase === undefined) {
    throw new Error(`there is no case "${name}"`);
  }
  await runStoreCase(storeCase, open);
}

/** Loads the whole package in a worker, besides the store. */
async function smoke() {
  const service = new SessionService();
  const session = await service.createSession({
    appName: 'app',
    userId: 'user',
    sessionId: 's',
    state: { 'user:name': 'Ana' },
  });
  return session.state;
}

export class StoreObject extends DurableObject {
  async fetch(request) {
    const { test, case: name, ...details } = await request.json();
    const { storage } = this.ctx;
    const open = async () => {
      await storage.deleteAll();
      const make = () => durableObjectStore(storage);
      return { store: make(), reopen: make, another: make };
    };
    if (name !== undefined) {
      return outcome(() => runCase(name, open));
    }
    return outcome(() => objectTests[test]({ storage, context: contextNow(), ...details }));
  }
}

/** One whose class was not declared to have SQLite. */
export class PlainObject extends StoreObject {}

const worker = {
  async fetch(request, env) {
    const { store, object = crypto.randomUUID(), ...details } = await request.json();
    if (store === 'd1') {
      // As another isolate has it: what is known of one binding is not known of the other.
      const bindingOf = ({ DB }) => ({ prepare: (sql) => DB.prepare(sql), batch: (all) => DB.batch(all) });
      const open = async () => {
        await freshD1(env);
        const make = () => d1Store(bindingOf(env));
        return { store: make(), reopen: make, another: make };
      };
      const { test, case: name, isKept = false, ...more } = details;
      return outcome(async () => {
        if (name !== undefined) {
          return runCase(name, open);
        }
        await (isKept || freshD1(env));
        return d1Tests[test]({ database: bindingOf(env), context: contextNow(), ...more });
      });
    }
    if (store === 'smoke') {
      return outcome(smoke);
    }
    const namespace = store === 'plain' ? env.PLAIN : env.OBJECT;
    return namespace
      .get(namespace.idFromName(object))
      .fetch('http://object/', { method: 'POST', body: JSON.stringify(details) });
  },
};

export { worker as default };
