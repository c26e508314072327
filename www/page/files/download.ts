// Saving sessions as a file of JSON lines.

import type { SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';

/** All sessions of an app as lines with their line ends. */
export async function linesOf(service: SessionService, appName: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportLines(service, { appName })) {
    lines.push(`${line}\n`);
  }
  return lines;
}

/** Offers lines to the user as a file that is named after an app. */
export function download(lines: readonly string[], appName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...lines], { type: 'application/jsonl' }));
  link.download = `${appName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') || 'statepad'}.jsonl`;
  link.click();
  // The browser has taken it over once the click is done.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
