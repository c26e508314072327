// Process warnings: for faults that cannot be thrown, and for developers.

/** The members of Node's `process` in use. Other hosts have none of them, or some. */
interface Process {
  readonly env?: { readonly NODE_ENV?: string | undefined };
  readonly emitWarning?: (message: string, options: { readonly type: string; readonly code: string }) => void;
}

const warned = new Set<string>();

/** Emits a process warning. Returns true if the host has them. */
function emitted(code: string, message: string): boolean {
  const { process } = globalThis as { readonly process?: Process };
  if (typeof process?.emitWarning !== 'function') {
    return false;
  }
  process.emitWarning(message, { type: 'StatepadWarning', code });
  return true;
}

/** The text of an error in a warning, whatever was thrown. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Emits a process warning; on hosts without them, writes it to the console. */
export function warn(code: string, message: string): void {
  if (!emitted(code, message)) {
    console.warn(`${code}: ${message}`);
  }
}

/**
 * Emits a process warning, once for each `code` in this process, and never in production (`NODE_ENV`). Does nothing on
 * hosts without process warnings.
 */
export function warnInDevelopment(code: string, message: string): void {
  const { process } = globalThis as { readonly process?: Process };
  if (process?.env?.NODE_ENV !== 'production' && !warned.has(code) && emitted(code, message)) {
    warned.add(code);
  }
}
