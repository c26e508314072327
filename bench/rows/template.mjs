/**
 * Rendering a template with the state of a session. The text that comes out is read at one place, since a text put
 * together from pieces is only made whole when somebody reads it.
 */

import { fill, TEMPLATE } from '../workload.mjs';
import { time } from '../measure.mjs';

const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };

async function stateOf({ createService }) {
  const service = createService();
  await fill(service, KEY, 10);
  return (await service.getSession(KEY)).state;
}

const readText = (text) => text.charCodeAt(text.length >> 1) + text.length;

/** Compiled once, where the side can. */
export async function templateCompiled(side, options) {
  const state = await stateOf(side);
  const render = side.compile(TEMPLATE);
  const isAsync = render(state) instanceof Promise;
  const call = isAsync ? async () => readText(await render(state)) : () => readText(render(state));
  return { proof: { text: await render(state) }, ...(await time(call, options)) };
}

/** The same text again and again, as an agent does with its instruction. */
export async function templateAgain(side, options) {
  const context = { invocationContext: { session: { state: await stateOf(side) } } };
  const call = async () => readText(await side.inject(TEMPLATE, context));
  return { proof: { text: await side.inject(TEMPLATE, context) }, ...(await time(call, options)) };
}

/** A text that was never seen before, each time. */
export async function templateFirst(side, options) {
  const context = { invocationContext: { session: { state: await stateOf(side) } } };
  let number = 0;
  const call = async () => {
    number += 1;
    return readText(await side.inject(`${number} ${TEMPLATE}`, context));
  };
  return { proof: { text: await side.inject(TEMPLATE, context) }, ...(await time(call, options)) };
}
