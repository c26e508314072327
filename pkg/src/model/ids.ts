// New ids.

/** A new UUID. `crypto.randomUUID` is not there on pages that are served without TLS. */
export function newId(): string {
  if (typeof crypto.randomUUID === 'function') {
    return crypto.randomUUID();
  }
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** True for an id that counts as absent: a session that is created with it gets a generated one. */
export function isBlank(id: string): boolean {
  return /^\p{White_Space}*$/u.test(id);
}
