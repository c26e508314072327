// Events and forks that a user of the inspector makes.

import type { EventInit, Session, SessionName } from '../../index.js';
import type { ForkChange } from './inspection-options.js';
import { noteOfTemp, noteOfTemplate } from './log.js';
import type { WritableSource } from './source.js';

/** An edit: the keys that it writes, with their values. */
export interface Edit {
  readonly author: string;
  readonly delta: Readonly<Record<string, unknown>>;
  /** The template that the event notes. */
  readonly template?: string | undefined;
}

/** The event of an edit, in an invocation of its own. */
export function eventOf({ author, delta, template }: Edit): EventInit {
  const note = template === undefined ? {} : noteOfTemplate(template);
  const customMetadata = { ...noteOfTemp(Object.keys(delta)), ...note };
  return {
    author,
    invocationId: `edit-${crypto.randomUUID()}`,
    actions: { stateDelta: delta },
    ...(Object.keys(customMetadata).length === 0 ? {} : { customMetadata }),
  };
}

/** A fork to create. */
export interface ForkRequest extends ForkChange {
  readonly at: number;
  readonly author: string;
}

/**
 * Creates a fork, and appends the change that it begins with, if it has one. Throws as `fork` and `appendEvent`, and
 * when the source has no `fork`.
 */
export async function createFork(
  service: WritableSource,
  { appName, userId, id }: SessionName,
  { at, author, delta = {}, template, sessionId }: ForkRequest,
): Promise<Session> {
  if (service.fork === undefined) {
    throw new Error('this source cannot fork sessions');
  }
  const fork = await service.fork({ appName, userId, id }, { at, ...(sessionId === undefined ? {} : { sessionId }) });
  if (Object.keys(delta).length > 0 || template !== undefined) {
    await service.appendEvent({ session: fork, event: eventOf({ author, delta, template }) });
  }
  return fork;
}
