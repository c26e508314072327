// Process warnings: what has to be told where nothing can be thrown, and what developers are told on the side.

/** As much of Node's `process` as is needed. Other hosts have none, or a part of it. */
interface Process {
  readonly env?: { readonly NODE_ENV?: string | undefined };
  readonly emitWarning?: (message: string, options: { readonly type: string; readonly code: string }) => void;
}

const told = new Set<string>();

/** Emits a process warning. Says whether the host has such a thing. */
function emitted(code: string, message: string): boolean {
  const { process } = globalThis as { readonly process?: Process };
  if (typeof process?.emitWarning !== 'function') {
    return false;
  }
  process.emitWarning(message, { type: 'StatepadWarning', code });
  return true;
}

/** Emits a process warning; where there is no such thing, writes it to the console. */
export function warn(code: string, message: string): void {
  if (!emitted(code, message)) {
    console.warn(`${code}: ${message}`);
  }
}

/**
 * Emits a process warning, once for each `code` in this process, and none at all in production (`NODE_ENV`). Hosts
 * without process warnings are told nothing.
 */
export function warnInDevelopment(code: string, message: string): void {
  const { process } = globalThis as { readonly process?: Process };
  if (process?.env?.NODE_ENV !== 'production' && !told.has(code) && emitted(code, message)) {
    told.add(code);
  }
}
