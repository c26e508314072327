// What kind of value a caller has given. Nothing here throws, not even for a revoked proxy.

/** Whether something is an object, or an instance of a class: no list, no function, not `null`. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRevoked(value) && !Array.isArray(value);
}

/** Whether something is a list. */
export function isList(value: unknown): value is readonly unknown[] {
  return typeof value === 'object' && value !== null && !isRevoked(value) && Array.isArray(value);
}

/** Made by `{}`, by `Object.create(null)`, or by the `{}` of another realm. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  let prototype: object | null;
  try {
    prototype = Object.getPrototypeOf(value) as object | null;
  } catch {
    // A revoked proxy, or one whose owner does not want to be looked at.
    return false;
  }
  return prototype === Object.prototype || prototype === null || Object.hasOwn(prototype, 'isPrototypeOf');
}

/** What something is, in words for a message. */
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

/** Whether something is a proxy that has been revoked: nothing can be asked of it. */
export function isRevoked(value: object): boolean {
  try {
    // The answer is used: bundlers leave out a call whose answer is not used, as if it could not throw.
    const answer: unknown = Array.isArray(value);
    return answer === undefined;
  } catch {
    return true;
  }
}
