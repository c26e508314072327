// Opening a file with notices for the user: the progress, a way to cancel, and problems.

import { reasonOf } from '../reason.js';
import type { Notice } from '../notices.js';
import { BrokenFile, openFile, type OpenedFile, type Progress } from './files.js';

/** The time that a file may take before its progress is shown, in ms: most are faster than that can be read. */
const TELL_MS = 250;

/** Opens files, one at a time: a later one cancels one that is still being read. */
export class FileOpening {
  readonly #tell: (id: string, notice: Omit<Notice, 'id'> | undefined) => void;
  #reading: AbortController | undefined;

  /** `tell` shows a notice in place of an earlier one of the same id, or removes that. */
  constructor(tell: (id: string, notice: Omit<Notice, 'id'> | undefined) => void) {
    this.#tell = tell;
  }

  /** Opens a file and shows it. Problems are shown as a notice, without an effect. */
  async open(file: File, show: (opened: OpenedFile, signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    const { signal } = reading;
    this.#reading = reading;
    this.#tell('broken', undefined);
    let last: Progress = { phase: 'read', done: 0, total: 0 };
    let isTold = false;
    const tellProgress = (): void =>
      this.#tell(
        'reading',
        noticeOf(file, last, () => this.#cancel(reading)),
      );
    const telling = setTimeout(() => {
      isTold = true;
      tellProgress();
    }, TELL_MS);
    const onProgress = (progress: Progress): void => {
      last = progress;
      if (isTold && !signal.aborted) {
        tellProgress();
      }
    };
    try {
      await show(await openFile(file, { signal, onProgress }), signal);
    } catch (error) {
      if (!signal.aborted) {
        const lines = error instanceof BrokenFile ? error.problems : [];
        this.#tell('broken', { kind: 'bad', text: reasonOf(error), lines });
      }
    } finally {
      clearTimeout(telling);
      if (this.#reading === reading) {
        this.#reading = undefined;
        this.#tell('reading', undefined);
      }
    }
  }

  #cancel(reading: AbortController): void {
    reading.abort();
    this.#tell('reading', undefined);
  }
}

function noticeOf({ name, size }: File, { phase, done, total }: Progress, act: () => void): Omit<Notice, 'id'> {
  const share = phase === 'build' || total === 0 ? undefined : done / total;
  return { kind: 'info', text: `Opening ${name} (${sizeText(size)})…`, progress: { share }, action: 'Cancel', act };
}

function sizeText(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${Math.round(bytes / 1e6)} MB`;
}
