// A site with React in it: a page that a test writes, the examples of docs/react.md, and a service behind HTTP.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { SessionService } from 'statepad';
import { nodeListener, serve } from 'statepad/serve';
import { openChromium } from '../../support/chromium.mjs';
import { filesOf, hostOf } from '../host.mjs';

/** The versions of React that are supported. */
export const KITS = ['react', 'react-18'];

/** A page: with what a server has rendered, and what it has read. */
export const html = (inside = '', initial = 'null') =>
  `<!doctype html><meta charset="utf-8"><div id="root">${inside}</div>
   <script>globalThis.initial = ${initial}</script><script type="module" src="/page.js"></script>`;

/** The files of docs/react.md, by the headings of their sections. */
export const examples = (...headings) =>
  Object.assign({}, ...headings.map((heading) => filesOf(heading, 'docs/react.md')));

/** Bundles a file of a project. */
async function bundled(folder, entry, platform) {
  const { outputFiles } = await build({
    entryPoints: [join(folder, entry)],
    absWorkingDir: folder,
    bundle: true,
    write: false,
    platform,
    format: platform === 'node' ? 'cjs' : 'esm',
    jsx: 'automatic',
  });
  return outputFiles[0].text;
}

/** The exports of a file of a project, run by Node. */
export async function imported(folder, entry) {
  const module = { exports: {} };
  const body = await bundled(folder, entry, 'node');
  new Function('module', 'exports', 'require', body)(module, module.exports, createRequire(import.meta.url));
  return module.exports;
}

/**
 * Serves a page over plain HTTP/1.1, with `files` in its project besides the examples of docs/react.md. `routes` are
 * further paths: functions of the service, the request and the response. Answers the service, its origin, a browser,
 * the folder of the project; `cut()`, which destroys every connection; `sent()`, how many bytes were sent in all; and
 * `stop()`.
 */
export async function openSite(kit, { page, files = {}, routes = {} }) {
  const { folder } = await hostOf(kit, {
    ...examples('In React', 'Writing', 'With Suspense', 'Server rendering'),
    ...files,
    'page.jsx': page,
  });
  const script = await bundled(folder, 'page.jsx', 'browser');
  const service = new SessionService();
  const handler = nodeListener(serve(service, { insecure: true, basePath: '/agents', retry: 100 }));
  /** The bytes that connections have sent which are closed. */
  let sent = 0;
  const sockets = new Set();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://host');
    if (pathname in routes) {
      await routes[pathname](service, request, response);
    } else if (pathname.startsWith('/agents/')) {
      handler(request, response);
    } else if (pathname === '/page.js') {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    } else if (pathname === '/favicon.ico') {
      response.writeHead(204).end();
    } else {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html());
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      sent += socket.bytesWritten;
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await openChromium();
  return {
    service,
    browser,
    folder,
    origin: `http://127.0.0.1:${server.address().port}`,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    sent: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, sent),
    stop: async () => {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await service.close();
    },
  };
}

/** Waits until an element of a page has this text. */
export const shows = (page, id, text) =>
  page.waitForFunction(([one, wanted]) => document.getElementById(one)?.textContent === wanted, [id, text], {
    timeout: 20_000,
  });
