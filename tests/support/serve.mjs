// A web server on this machine for the pages of the tests.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import { portOf } from './ports.mjs';

/** @type {Record<string, string>} */
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.css': 'text/css',
};

/**
 * @typedef {string | { html: string, headers?: Record<string, string> }} Page
 * @typedef {{ folder: string, pages?: Record<string, Page>, told?: (text: string) => void }} Served
 */

/**
 * Serves `pages` (path to HTML text, or to `{ html, headers }`) and, for every other path, the files of `folder`.
 * The text of a POST goes to `told`. Answers the origin and a function that stops the server.
 *
 * @param {Served} served
 */
export async function serve({ folder, pages = {}, told }) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (path === '/favicon.ico') return void response.writeHead(204).end();
    if (request.method === 'POST') {
      told?.(await text(request));
      return void response.writeHead(204).end();
    }
    const page = pages[path];
    if (page !== undefined) {
      const { html, headers } = typeof page === 'string' ? { html: page, headers: {} } : page;
      return void response.writeHead(200, { 'content-type': types['.html'], ...headers }).end(html);
    }
    try {
      const file = await readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      response
        .writeHead(200, {
          'content-type': types[extname(path)] ?? (path.endsWith('/') ? types['.html'] : 'application/octet-stream'),
        })
        .end(file);
    } catch {
      response.writeHead(404).end();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { origin: `http://127.0.0.1:${portOf(server)}`, stop };
}
