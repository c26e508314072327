// Ids that a request determines, so that each of its attempts writes to the same session.

/** The id of a session that a request creates without naming one: a UUID (version 8, RFC 9562). */
export async function derivedId(requestId: string): Promise<string> {
  const text = new TextEncoder().encode(`session of ${requestId}`);
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', text)).slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
