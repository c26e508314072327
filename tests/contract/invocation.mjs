// Runs the steps of invocation.json over the package.

import assert from 'node:assert/strict';
import { DELETED, SessionService, isStatepadError } from 'statepad';
import { plain } from './read.mjs';
import { callState } from './state.mjs';

const key = { appName: 'app', userId: 'u', sessionId: 's' };

/** Runs a case. Throws when the package answers otherwise. */
export async function runInvocation(state, steps) {
  const service = new SessionService();
  const session = await service.createSession({ ...key, state });
  const first = steps.map(({ by, append }) => by ?? append).find((author) => author !== undefined);
  const root = service.invocation(session, { invocationId: 'i', author: first });
  const contexts = new Map([[first, root]]);
  const context = (author) => {
    if (!contexts.has(author)) {
      contexts.set(author, root.child(author));
    }
    return contexts.get(author);
  };
  for (const [index, step] of steps.entries()) {
    const run = async () => await runStep({ service, root, context }, step);
    try {
      await (step.error === undefined ? run() : assert.rejects(run, (error) => isStatepadError(error) && error.code === step.error));
    } catch (error) {
      error.message = `step ${index + 1}: ${error.message}`;
      throw error;
    }
  }
}

async function runStep({ service, root, context }, step) {
  if (step.call !== undefined) {
    callState(context(step.by).state, step);
  } else if (step.append !== undefined) {
    await append(context(step.append), step);
  } else if (step.session !== undefined) {
    assert.deepEqual(plain((await service.getSession(key)).state), step.session);
  } else if (step.render !== undefined) {
    assert.equal(root.render(step.render), step.is);
    assert.equal(root.readonly.render(step.render), step.is);
  } else if (step.discard !== undefined) {
    context(step.discard).discard();
  } else {
    root.end(step.end);
  }
}

async function append(context, { set, unset = [], partial, stored }) {
  const stateDelta = { ...set, ...Object.fromEntries(unset.map((key) => [key, DELETED])) };
  const event = await context.append({ ...(partial ? { partial } : {}), actions: { stateDelta } });
  if (stored !== undefined) {
    assert.equal(event.author, context.author);
    assert.equal(event.invocationId, 'i');
    assert.deepEqual(plain(event.actions.stateDelta), stored.set);
    assert.deepEqual(event.customMetadata?.statepad?.deleted ?? [], stored.unset ?? []);
  }
}
