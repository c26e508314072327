// Creations that come with an event, and were cut off before it. They are written as forks of nothing, and invisible.

import type { StoreComponents } from './components.js';
import type { Loaded } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** The source of a fork, as the event of its creation has it. */
export interface ForkedFrom {
  readonly sessionId: string;
  readonly created: string;
  readonly revision: number;
  /** The id of the event there. */
  readonly last?: string | undefined;
}

/** The source of an unfinished session. */
export function forkedFromIn({ events }: Pick<Loaded, 'events'>): ForkedFrom | undefined {
  try {
    return (JSON.parse(events[0]?.data ?? '{}') as { readonly forkedFrom?: ForkedFrom }).forkedFrom;
  } catch {
    return undefined;
  }
}

type Components = Pick<StoreComponents, 'connection' | 'loader'>;

/** Deletes the unfinished creation that has a key. Answers false where there is none: an unfinished fork stays. */
export async function dropUnfinishedCreation(components: Components, key: SessionKey): Promise<boolean> {
  return await dropUnfinished(components, key, (existing) => forkedFromIn(existing)?.sessionId === key.sessionId);
}

/** Deletes the unfinished session that has a key, if it is the wanted one. Answers false where it is not. */
export async function dropUnfinished(
  { connection, loader }: Components,
  key: SessionKey,
  isWanted: (existing: Loaded) => boolean,
): Promise<boolean> {
  const existing = await loader.loadUnfinished(key);
  if (existing === null || !isWanted(existing)) {
    return false;
  }
  const { created } = existing;
  await connection.ask(async (store, context) => await store.remove(key, context, { created }));
  return true;
}
