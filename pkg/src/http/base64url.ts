// Texts as base64url, which paths, headers and the parameters of a URL hold unchanged.

/** Bytes as base64url, without padding. */
export function base64UrlOf(bytes: Uint8Array): string {
  let units = '';
  for (const byte of bytes) {
    units += String.fromCharCode(byte);
  }
  return btoa(units).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** A text as base64url of its UTF-8. */
export function toBase64Url(text: string): string {
  return base64UrlOf(new TextEncoder().encode(text));
}

/** The text in base64url; `undefined` unless it is exactly what {@link toBase64Url} writes for it. */
export function fromBase64Url(encoded: string): string | undefined {
  if (!/^[\w-]*$/.test(encoded)) {
    return undefined;
  }
  try {
    const units = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(units, (unit) => unit.charCodeAt(0));
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return toBase64Url(text) === encoded ? text : undefined;
  } catch {
    // Not base64, or not UTF-8.
    return undefined;
  }
}
