// The type of a caller's value. Nothing here throws, not even for a revoked proxy.

/** True for an object, instances of classes included: no list, no function, not `null`. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRevoked(value) && !Array.isArray(value);
}

/** True for a list. */
export function isList(value: unknown): value is readonly unknown[] {
  return typeof value === 'object' && value !== null && !isRevoked(value) && Array.isArray(value);
}

/** True for objects made by `{}`, by `Object.create(null)`, or by the `{}` of another realm. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  let prototype: object | null;
  try {
    prototype = Object.getPrototypeOf(value) as object | null;
  } catch {
    // A revoked proxy, or one that refuses inspection.
    return false;
  }
  return prototype === Object.prototype || prototype === null || Object.hasOwn(prototype, 'isPrototypeOf');
}

/** A description of a value for messages. */
export function describe(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'number':
    case 'boolean':
      return String(value);
    case 'object':
      return value === null ? 'null' : describeObject(value);
    default:
      return `a ${typeof value}`;
  }
}

function describeObject(value: object): string {
  if (isRevoked(value)) {
    return 'a revoked proxy';
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  const name = isPlain(value) ? '' : classOf(value);
  return name === ''
    ? 'an object'
    : typeof name === 'string'
      ? `an instance of ${name}`
      : 'an object of an unknown kind';
}

function classOf(value: object): unknown {
  try {
    return (value.constructor as { readonly name?: unknown } | undefined)?.name;
  } catch {
    return undefined;
  }
}

/** True for a revoked proxy, which throws at every access. */
export function isRevoked(value: object): boolean {
  try {
    // The answer is used: bundlers drop a call whose answer is unused, as if it could not throw.
    const answer: unknown = Array.isArray(value);
    return answer === undefined;
  } catch {
    return true;
  }
}
