// The headers of the inspector's files.

import { createHash } from 'node:crypto';

/** The types of files by the endings of their names. Others are not served. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json',
  map: 'application/json',
  wasm: 'application/wasm',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

/**
 * The page loads and asks nothing but its own server, and no other page may show it, open it or read its files:
 * sessions hold texts of strangers, and the page has a token.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const COMMON: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A new version of the package has other files under the same names.
  'cache-control': 'no-cache',
};

/** The headers of a file; `undefined` for one whose type is none of the inspector's. */
export function headersOfFile(path: string, content: Uint8Array): Readonly<Record<string, string>> | undefined {
  const ending = /\.(\w+)$/.exec(path)?.[1] ?? '';
  const type = Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined;
  return type === undefined
    ? undefined
    : {
        'content-type': type,
        'content-length': String(content.length),
        etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
        ...COMMON,
      };
}
