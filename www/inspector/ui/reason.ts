// What to say of something that was thrown.

/** The message of an error, or whatever else was thrown, as text. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
