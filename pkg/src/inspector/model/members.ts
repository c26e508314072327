// Reading members of values from logs of other programs, where no member need have its type.

/** The members of an object; none for any other value. */
export type Members = Readonly<Record<string, unknown>>;

/** A value as an object to read members of; an empty one when it is none. */
export function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

/** A text, or a number as one; empty for other values, because an object must not be shown as it is. */
export function textFrom(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** A finite number that is not negative; `undefined` for any other value. */
export function countFrom(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The parts of an event's content; none where it has no list of them. */
export function partsOf(event: object): readonly Members[] {
  const { parts } = membersOf((event as Members)['content']);
  return Array.isArray(parts) ? parts.map(membersOf) : [];
}
