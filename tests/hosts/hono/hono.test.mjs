// `serve` in Hono, mounted and as a route, by its adapter for Node.

import { after, before, describe, it } from 'node:test';
import { hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';
import { handlerInMemory, handlerModule, itServes, lineOf } from '../served.mjs';

/** The lines of the table in docs/serve.md, and the options that they need. */
const WAYS = {
  mounted: { row: 'Hono, `serve`, mounted', line: `app.mount('/agents', handler)`, options: {} },
  route: {
    row: 'Hono, `serve`, as a route',
    line: `app.all('/agents/*', (c) => handler(c.req.raw))`,
    options: { basePath: '/agents' },
  },
};

const program = (name, line) => `
  import { serve } from '@hono/node-server';
  import { Hono } from 'hono';
  import { handler } from './${name}-handler.js';

  const app = new Hono();
  app.get('/', (c) => c.text('the app'));
  ${lineOf(line)};
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => console.log('on http://127.0.0.1:' + port));
`;

describe('Hono', () => {
  const seen = seenBy('hono');
  let host;
  before(async () => {
    const files = Object.entries(WAYS).flatMap(([name, { line, options }]) => [
      [`${name}-handler.js`, handlerInMemory(options)],
      [`${name}.js`, program(name, line)],
    ]);
    host = await hostOf('hono', { 'served-handler.js': handlerModule, ...Object.fromEntries(files) });
  });

  for (const [name, { row, line }] of Object.entries(WAYS)) {
    describe(line, () => {
      let server;
      before(async () => {
        server = await host.start(process.execPath, [`${name}.js`], { ready: /on (\S+)/ });
      });
      after(async () => await server?.stop());

      const saw = () => seen.saw(row, works());
      itServes(() => ({ url: `${server.found[1]}/agents`, output: server.output }), { saw });
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});
