/**
 * The run: one conversation through ADK's own Runner, exchange by exchange.
 */
import { createEvent, Runner } from '@google/adk';
import { DELETED } from 'statepad/adk';
import { buildDesk } from './desk.mjs';
import { ScriptedModel } from './model.mjs';
import { cut, Script } from './script.mjs';

/** The app that all conversations belong to: its `app:` keys are shared by all of them. */
export const APP = 'desk';

/**
 * Told of everything as it happens.
 *
 * @typedef {object} Watcher
 * @property {(conversation: import('./read.mjs').Conversation) => void} begins
 * @property {(text: string) => void} userSaid
 * @property {(role: string, text: string) => void} agentSaid
 * @property {(role: string, instruction: string) => void} instructed the instruction that a model really received
 * @property {(role: string, key: string, value: unknown) => void} wrote `value` may be DELETED
 */

/**
 * Plays a conversation and resolves to its session, read back from the service.
 *
 * @param {import('./read.mjs').Conversation} conversation
 * @param {import('@google/adk').BaseSessionService} sessionService
 * @param {Watcher} watcher
 */
export async function play(conversation, sessionService, watcher) {
  const key = { appName: APP, userId: conversation.user, sessionId: conversation.id };
  const { greeting, exchanges } = cut(conversation.turns);
  const script = new Script();
  /** @param {import('./desk.mjs').Role} role */
  const model = (role) =>
    new ScriptedModel(role, (instruction) => {
      watcher.instructed(role, instruction);
      return script.next(role, instruction);
    });
  const runner = new Runner({ appName: APP, agent: buildDesk(model, conversation.instruction), sessionService });

  watcher.begins(conversation);
  const session = await sessionService.createSession(key);
  for (const turn of greeting) await greet(session, turn, sessionService, watcher);
  for (const [index, exchange] of exchanges.entries()) {
    script.begin(exchange);
    watcher.userSaid(exchange.user.text);
    const stateDelta = tempKeysOf(exchange.user.delta);
    for (const [name, value] of Object.entries(stateDelta)) watcher.wrote('user', name, value);
    const events = runner.runAsync({
      userId: key.userId,
      sessionId: key.sessionId,
      newMessage: { role: 'user', parts: [{ text: exchange.user.text }] },
      stateDelta,
      customMetadata: { exchange: index + 1, services: conversation.services },
    });
    for await (const event of events) report(event, watcher);
  }
  const stored = await sessionService.getSession(key);
  if (stored === undefined) throw new Error(`the session ${conversation.id} is gone`);
  return stored;
}

/**
 * Before the first message there is nothing to run: what the agent says then is appended as it is.
 *
 * @param {import('@google/adk').Session} session
 * @param {import('./read.mjs').Turn} turn
 * @param {import('@google/adk').BaseSessionService} sessionService
 * @param {Watcher} watcher
 */
async function greet(session, turn, sessionService, watcher) {
  const stateDelta = { ...turn.delta, ...Object.fromEntries(turn.deleted.map((key) => [key, DELETED])) };
  const event = createEvent({
    author: 'agent',
    invocationId: 'greeting',
    content: { role: 'model', parts: [{ text: turn.text }] },
    actions: /** @type {any} */ ({ stateDelta }),
  });
  await sessionService.appendEvent({ session, event });
  report(event, watcher);
}

/** @param {Record<string, unknown>} delta */
function tempKeysOf(delta) {
  return Object.fromEntries(Object.entries(delta).filter(([key]) => key.startsWith('temp:')));
}

/** @param {import('@google/adk').Event} event @param {Watcher} watcher */
function report(event, watcher) {
  const role = event.author ?? '';
  const text = event.content?.parts?.find((part) => part.text !== undefined)?.text;
  if (text !== undefined && role === 'agent') watcher.agentSaid(role, text);
  for (const [key, value] of Object.entries(event.actions.stateDelta)) watcher.wrote(role, key, value);
}
