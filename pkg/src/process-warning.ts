// What has to be told where nothing can be thrown.

/** As much of Node's `process` as is needed. Other hosts have none, or a part of it. */
interface Process {
  readonly emitWarning?: (message: string, options: { readonly type: string; readonly code: string }) => void;
}

/** Emits a process warning; where there is no such thing, writes it to the console. */
export function processWarning(code: string, message: string): void {
  const { process } = globalThis as { readonly process?: Process };
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, { type: 'StatepadWarning', code });
  } else {
    console.warn(`${code}: ${message}`);
  }
}
