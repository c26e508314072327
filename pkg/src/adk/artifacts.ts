// Artifacts of a rewound session. The rules are those of adk-python's `rewind_async`
// (google/adk/sessions/_rewind_utils.py).

import type { BaseArtifactService } from '@google/adk';
import type { Event, SessionKey } from '../model/types.js';

type Artifact = Parameters<BaseArtifactService['saveArtifact']>[0]['artifact'];

/** The part that a rewind saves for an artifact that did not exist: adk-python's services load it as absent. */
const tombstone = (): Artifact => ({ inlineData: { mimeType: 'application/octet-stream', data: '' } });

/**
 * Saves again each artifact of the session that has changed since the first `to` events, in its version of that time.
 * Answers the new versions by filename: the `artifactDelta` of the marker. Artifacts of the user (`user:avatar.png`)
 * stay, because other sessions share them. Throws the errors of the artifact service.
 *
 * @example
 * // report.txt was version 0 after the first turn, and version 1 after the second, which is undone:
 * await restoredArtifacts(artifacts, key, events, 4); // { 'report.txt': 2 }, with the content of version 0
 */
export async function restoredArtifacts(
  service: BaseArtifactService,
  { appName, userId, sessionId }: SessionKey,
  events: readonly Event[],
  to: number,
): Promise<Record<string, number>> {
  const before = versionsAfter(events.slice(0, to));
  const restored: [string, number][] = [];
  for (const [filename, version] of versionsAfter(events)) {
    const earlier = before.get(filename);
    if (version !== earlier && !filename.startsWith('user:')) {
      const name = { appName, userId, sessionId, filename };
      const artifact = earlier === undefined ? undefined : await service.loadArtifact({ ...name, version: earlier });
      restored.push([filename, await service.saveArtifact({ ...name, artifact: artifact ?? tombstone() })]);
    }
  }
  return Object.fromEntries(restored);
}

/** The versions of the artifacts that events have saved, by filename. */
function versionsAfter(events: readonly Event[]): Map<string, number> {
  return new Map<string, number>(events.flatMap(({ actions }) => Object.entries(actions.artifactDelta)));
}
