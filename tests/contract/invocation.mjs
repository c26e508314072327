// Runs the steps of invocation.json over the package.

import assert from 'node:assert/strict';
import { DELETED, SessionService, StoreError, isStatepadError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from '../support/fixtures.mjs';
import { gate } from '../support/gate.mjs';
import { plain } from './read.mjs';
import { callState } from './state.mjs';

/** A store that has what becomes of an event decided elsewhere, by the event's id. */
function decidedStore(decisions) {
  const { commit, load, list, remove, loadScope } = memoryStore();
  return {
    load,
    list,
    remove,
    loadScope,
    async commit(change, context) {
      const decision = await decisions.get(change.id);
      decisions.delete(change.id);
      if (decision === 'refused') {
        throw new StoreError('unavailable', 'it is told to refuse');
      }
      const committed = await commit(change, context);
      if (decision === 'lost') {
        throw new Error('the answer got lost');
      }
      return committed;
    },
  };
}

/** Runs a case. Throws when the package answers otherwise. */
export async function runInvocation(state, steps) {
  // In memory, too, where nothing has to fail.
  const fails = steps.some((step) => step.fails !== undefined || step.arrive !== undefined);
  for (const isStored of fails ? [true] : [false, true]) {
    await runOver(state, steps, isStored);
  }
}

async function runOver(state, steps, isStored) {
  const decisions = new Map();
  const service = new SessionService(isStored ? { store: decidedStore(decisions), retry: { attempts: 1 } } : {});
  const session = await service.createSession({ ...KEY, state });
  const first = steps.map(({ by, append, send }) => by ?? append ?? send).find((author) => author !== undefined);
  const root = service.invocation(session, { invocationId: 'i', author: first });
  const contexts = new Map([[first, root]]);
  const context = (author) => {
    if (!contexts.has(author)) {
      contexts.set(author, root.child(author));
    }
    return contexts.get(author);
  };
  const sent = [];
  for (const [index, step] of steps.entries()) {
    const run = async () => await runStep({ service, root, context, decisions, sent }, step);
    try {
      await (step.error === undefined ? run() : assert.rejects(run, isRefused(step)));
    } catch (error) {
      error.message = `step ${index + 1}: ${error.message}`;
      throw error;
    }
  }
}

async function runStep({ service, root, context, decisions, sent }, step) {
  if (step.call !== undefined) {
    callState(context(step.by).state, step);
  } else if (step.append !== undefined) {
    await append(context(step.append), decisions, step);
  } else if (step.send !== undefined) {
    const { open, opened } = gate();
    decisions.set(step.id, opened);
    sent.push({ author: step.send, decide: open, event: append(context(step.send), new Map(), step) });
    sent.at(-1).event.catch(() => undefined);
  } else if (step.arrive !== undefined) {
    const { author, decide, event } = sent.shift();
    decide(step.arrive);
    if (step.arrive === 'refused') {
      await assert.rejects(event, hasCode('STORE_UNAVAILABLE'));
    } else {
      compare(await event, author, step.stored);
    }
  } else if (step.session !== undefined) {
    assert.deepEqual(plain((await service.getSession(KEY)).state), step.session);
  } else if (step.render !== undefined) {
    assert.equal(root.render(step.render), step.is);
    assert.equal(root.readonly.render(step.render), step.is);
  } else if (step.discard !== undefined) {
    context(step.discard).discard();
  } else {
    root.end(step.end);
  }
}

/** Checks the code of an error, and its message where the step has one. */
function isRefused({ error: code, message }) {
  return (error) => {
    assert.ok(isStatepadError(error), `not a StatepadError: ${error?.stack}`);
    assert.equal(error.code, code);
    assert.equal(error.message, message ?? error.message);
    return true;
  };
}

const CODES = { refused: 'STORE_UNAVAILABLE', lost: 'COMMIT_UNKNOWN' };

async function append(context, decisions, { id, set, unset = [], partial, fails, stored }) {
  const stateDelta = { ...set, ...Object.fromEntries(unset.map((key) => [key, DELETED])) };
  if (fails !== undefined) {
    decisions.set(id, fails);
  }
  const appended = context.append({
    ...(id === undefined ? {} : { id }),
    ...(partial ? { partial } : {}),
    actions: { stateDelta },
  });
  if (fails !== undefined) {
    await assert.rejects(appended, hasCode(CODES[fails]));
    return undefined;
  }
  const event = await appended;
  if (stored !== undefined) {
    compare(event, context.author, stored);
  }
  return event;
}

function compare(event, author, { set, unset = [], order }) {
  assert.equal(event.author, author);
  assert.equal(event.invocationId, 'i');
  assert.deepEqual(plain(event.actions.stateDelta), set);
  assert.deepEqual(event.customMetadata?.statepad?.deleted ?? [], unset);
  if (order !== undefined) {
    assert.deepEqual(Object.keys(event.actions.stateDelta), order);
  }
}

function hasCode(code) {
  return (error) => isStatepadError(error) && error.code === code;
}
