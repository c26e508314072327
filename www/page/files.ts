// Opening and saving JSON lines: what `statepad/jsonl` and ADK's own sessions are written as.

import { exportLines, openLines } from 'statepad/jsonl';
import { isStatepadError, type SessionKey, type SessionService } from 'statepad';
import { reasonOf } from '../inspector/ui/reason.js';

/** Sessions from a file, in memory: whatever is done to them, the file stays as it is. */
export interface OpenedFile {
  readonly name: string;
  readonly service: SessionService;
  readonly sessions: readonly SessionKey[];
  readonly events: number;
}

/** What is wrong with a file. */
export class BrokenFile extends Error {
  /** By line. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[];

  constructor(name: string, error: unknown) {
    const problems = isStatepadError(error) ? (error.problems ?? []) : [];
    super(problems.length > 0 ? `${name} cannot be opened` : `${name} cannot be opened: ${reasonOf(error)}`);
    this.problems = problems;
  }
}

/** Reads a file. Throws {@link BrokenFile}, and nothing has changed then. */
export async function openFile(file: File): Promise<OpenedFile> {
  try {
    const pieces = file.stream().pipeThrough(new TextDecoderStream('utf-8', { fatal: true }));
    return { name: file.name, ...(await openLines(pieces)) };
  } catch (error) {
    throw new BrokenFile(file.name, error);
  }
}

/** Hands all sessions of an app to the user as a file. */
export async function download(service: SessionService, appName: string): Promise<void> {
  const lines: string[] = [];
  for await (const line of exportLines(service, { appName })) {
    lines.push(`${line}\n`);
  }
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  link.download = `${appName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-') || 'statepad'}.jsonl`;
  link.click();
  // The browser has taken it over once the click is done.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
