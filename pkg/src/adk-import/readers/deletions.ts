// adk-java deletes a key by `null` in a delta; statepad's stored events name it in the metadata as well.

import { isObject } from '../../model/value-types.js';
import { withDeletions } from '../../model/deletion.js';
import type { Members } from '../../jsonl/members.js';

/** The value that stood for a deletion in events of earlier versions of adk-java. */
const SENTINEL = '__ADK_SENTINEL_REMOVED__';

/** An event of adk-java whose deletions are those of a stored event. */
export function deletions(event: Members): Members {
  const { actions, customMetadata } = event;
  if (!isObject(actions)) {
    return event;
  }
  const { stateDelta } = actions as { readonly stateDelta?: unknown };
  if (!isObject(stateDelta)) {
    return event;
  }
  const entries = Object.entries(stateDelta);
  const deleted = entries.filter(([, value]) => value === null || value === SENTINEL).map(([key]) => key);
  if (deleted.length === 0) {
    return event;
  }
  const delta = Object.fromEntries(
    entries.map(([key, value]) => [key, value === SENTINEL ? null : (value as unknown)]),
  );
  return {
    ...event,
    actions: { ...actions, stateDelta: delta },
    customMetadata: withDeletions(customMetadata, deleted),
  };
}
