// What is told to developers on the side: nothing has failed, but something was hardly meant.

/** As much of Node's `process` as is needed. Other hosts have none, or a part of it. */
interface Process {
  readonly env?: { readonly NODE_ENV?: string | undefined };
  readonly emitWarning?: (message: string, options: { readonly type: string; readonly code: string }) => void;
}

const told = new Set<string>();

/**
 * Emits a process warning, once for each `code` in this process, and none at all in production (`NODE_ENV`). Hosts without
 * process warnings are told nothing.
 */
export function warnInDevelopment(code: string, message: string): void {
  const { process } = globalThis as { readonly process?: Process };
  if (process?.emitWarning !== undefined && process.env?.NODE_ENV !== 'production' && !told.has(code)) {
    told.add(code);
    process.emitWarning(message, { type: 'StatepadWarning', code });
  }
}
