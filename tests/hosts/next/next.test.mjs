// The package in Next: built with Turbopack and with webpack, and in development.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { expected, link } from '../../packaging/project.mjs';
import { openChromium, openPage } from '../../support/chromium.mjs';
import { filesOf, hostOf } from '../host.mjs';
import { seenBy, works, worksWith } from '../matrix.mjs';
import { checkServing, handlerInMemory, handlerModule, lineOf } from '../served.mjs';

/** A page that says what a service has, and which text of this page was served. */
const page = (imported) => `
  import { sessions } from '${imported}';
  export const dynamic = 'force-dynamic';
  export default async function Page() {
    const session = await sessions.getSession({ appName: 'plain', userId: 'ana', sessionId: 's' });
    return <p>{session === undefined ? 'sees nothing' : 'sees the session'}</p>;
  }
`;

const route = (body, runtime = 'nodejs') => `
  export const runtime = '${runtime}';
  export const dynamic = 'force-dynamic';
  ${body}
`;

/** Routes and a page over a service that is made in a module, without `globalThis`. */
const plain = {
  'lib/plain.ts': `
    import { SessionService } from 'statepad';
    export const sessions = new SessionService();
  `,
  'app/plain/make/route.ts': route(`
    import { sessions } from '../../../lib/plain';
    export async function GET() {
      const session = await sessions.getOrCreateSession({ appName: 'plain', userId: 'ana', sessionId: 's' });
      Object.assign(globalThis, { handleOfRoute: session });
      return Response.json(session.id);
    }
  `),
  'app/plain/page.tsx': page('../../lib/plain'),
  'app/plain/append/page.tsx': `
    import { sessions } from '../../../lib/plain';
    export const dynamic = 'force-dynamic';
    async function messageOf(session: any) {
      return sessions.appendEvent({ session, event: { author: 'ana' } }).then(() => 'done', ({ code, message }) => \`\${code}: \${message}\`);
    }
    export default async function Page() {
      const messages = [
        await messageOf({ appName: 'plain', userId: 'ana', id: 's' }),
        await messageOf((globalThis as any).handleOfRoute),
      ];
      return <p>{messages.join('; ')}</p>;
    }
  `,
};

/** The objects that cross from a server component to a client component, which shows them as JSON. */
const border = {
  'app/border/shown.tsx': `
    'use client';
    import type { Session } from 'statepad';
    export const Shown = ({ session }: { session: Session }) => <p>{JSON.stringify(session)}</p>;
  `,
  'app/border/page.tsx': `
    import { SessionService, plainSession } from 'statepad';
    import { Shown } from './shown';
    export const dynamic = 'force-dynamic';
    export default async function Page() {
      const service = new SessionService();
      const state = { topic: 'tides', 'app:motd': 'hello', 'user:cart': [{ item: 'tea' }] };
      const session = await service.createSession({ appName: 'border', userId: 'ana', sessionId: 's', state });
      const actions = { stateDelta: { topic: 'moon', 'temp:draft': 1 } };
      await service.appendEvent({ session, event: { id: 'e', author: 'ana', timestamp: 1, actions } });
      return <Shown session={plainSession(session)} />;
    }
  `,
};
const crossed = {
  id: 's',
  appName: 'border',
  userId: 'ana',
  state: { topic: 'moon', 'app:motd': 'hello', 'user:cart': [{ item: 'tea' }] },
  events: 1,
  lastUpdateTime: 1,
  revision: 1,
};

/** The page of docs/react.md, whose session a route changes. */
const lesson = {
  ...filesOf('In Next', 'docs/react.md'),
  'app/lesson/append/route.ts': route(`
    import { sessions } from '../../../lib/sessions';
    export async function GET() {
      await sessions.appendEvent({ session: { appName: 'tutor', userId: 'ana', id: 'monday' }, event: { author: 'ana' } });
      return Response.json('appended');
    }
  `),
};

/** The line of the table in docs/serve.md. */
const served = {
  'lib/served-handler.js': handlerModule,
  'lib/handler.js': handlerInMemory({ basePath: '/agents' }),
  'app/agents/[...path]/route.ts': `
    import { handler } from '../../../lib/handler.js';
    ${lineOf('export { handler as GET, handler as POST, handler as PATCH, handler as DELETE }')};
  `,
};

const files = {
  ...served,
  ...filesOf('Next'),
  ...plain,
  ...border,
  ...lesson,
  'app/layout.tsx': `
    export default function Layout({ children }: { children: React.ReactNode }) {
      return <html><body>{children}</body></html>;
    }
  `,
  ...Object.fromEntries(
    ['nodejs', 'edge'].map((runtime) => [
      `app/${runtime}/route.ts`,
      route(
        `
        import { converse } from '../../conversation.js';
        export async function GET() {
          return Response.json(await converse());
        }
      `,
        runtime,
      ),
    ]),
  ),
  'app/kept/route.ts': route(`
    import { SessionService } from 'statepad';
    import { sqliteStore } from 'statepad/stores/sqlite';
    const sessions = new SessionService({ store: sqliteStore('sessions.db') });
    export async function GET() {
      const session = await sessions.getOrCreateSession({ appName: 'kept', userId: 'ana', sessionId: 's' });
      return Response.json((await sessions.appendEvent({ session, event: { author: 'ana' } })).author);
    }
  `),
  // Only because of where the tests lie: another package.json is above.
  'next.config.mjs': `export default {
    turbopack: { root: import.meta.dirname },
    outputFileTracingRoot: import.meta.dirname,
  };`,
};

const KEPT = worksWith('the service on `globalThis`: [Next](#next)');

describe('Next', () => {
  const seen = seenBy('next');
  let host;
  before(async () => {
    host = await hostOf('next', files);
    // A path is opened by it in Node 20; compiled where the repository is installed.
    link('better-sqlite3', host.folder);
  });

  /** Starts Next, calls with a function that asks for a path, and ends it. */
  async function withServer(args, use) {
    const next = join(host.folder, 'node_modules', 'next', 'dist', 'bin', 'next');
    const server = await host.start(process.execPath, [next, ...args, '--port', '0', '--hostname', '127.0.0.1'], {
      ready: /- Local:\s+(http:\/\/\S+:\d+)[^]*Ready/,
    });
    const ask = async (path, init) => {
      const response = await fetch(new URL(path, server.found[1]), init);
      const text = await response.text();
      assert.equal(response.status, 200, `${path}: ${text.slice(0, 500)}\n${server.output()}`);
      return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
    };
    try {
      return await use(ask, server.found[1], server.output);
    } finally {
      await server.stop();
    }
  }

  /** Says something by the route of the recipe; answers what its page shows. */
  async function chat(ask) {
    await ask('/api/chat', { method: 'POST', body: JSON.stringify({ user: 'ana', text: 'How often?' }) });
    return await pageOf(ask, '/');
  }

  const pageOf = async (ask, path) => /<p>([^<]*)<\/p>/.exec(await ask(path))[1].replaceAll('&quot;', '"');

  /** Asks a service that is made in a module for the page, after a route has used it. */
  async function plainService(ask) {
    await ask('/plain/make');
    return [await pageOf(ask, '/plain'), await pageOf(ask, '/plain/append')];
  }

  /** The values that a server component passes to a client component. */
  async function borderOf(ask) {
    const { events, ...session } = JSON.parse(await pageOf(ask, '/border'));
    return { ...session, events: events.length };
  }

  /** Opens the page that a server component has given a session, and changes that. */
  async function followLesson(ask, origin) {
    const browser = await openChromium();
    try {
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(`${origin}/lesson`);
      const shows = (text) =>
        page.waitForFunction((wanted) => document.querySelector('p')?.textContent === wanted, text, {
          timeout: 20_000,
        });
      assert.match(await ask('/lesson'), /<p>0 events<\/p>/);
      await shows('0 events');
      await ask('/lesson/append');
      await shows('1 events');
      assert.deepEqual(
        complaints.filter((complaint) => !complaint.includes('404')),
        [],
      );
    } finally {
      await browser.close();
    }
  }

  const ELSEWHERE = 'SESSION_NOT_FOUND: session "s" not found in this service: it is one of ';

  for (const [bundler, flag] of [
    ['Turbopack', '--turbopack'],
    ['webpack', '--webpack'],
  ]) {
    it(`builds with ${bundler}, and serves the recipe, in Node and at the edge`, async () => {
      const told = await host.printed(`next build ${flag}`);
      assert.doesNotMatch(told, /critical dependency|can't resolve/i);
      await withServer(['start'], async (ask, origin, output) => {
        assert.deepEqual(await ask('/nodejs'), expected);
        seen.saw(`Next, ${bundler}, Node`, works());
        assert.deepEqual(await ask('/edge'), expected);
        assert.equal(await ask('/api/greet?name=Ana'), 'Hello Ana.');
        seen.saw(`Next, ${bundler}, edge`, works());
        assert.equal(await ask('/kept'), 'ana');
        assert.equal(await chat(ask), '1 events');
        assert.deepEqual(await borderOf(ask), crossed);
        await followLesson(ask, origin);
        const [sees, says] = await plainService(ask);
        if (sees === 'sees nothing') {
          const [byName, byHandle] = says.split('; ');
          assert.ok(byName.startsWith(`${ELSEWHERE}another service of this process`), says);
          assert.ok(byHandle.startsWith(`${ELSEWHERE}a service of another copy of statepad`), says);
        } else {
          assert.deepEqual([sees, says], ['sees the session', 'done; done']);
        }
        seen.saw(`Next, ${bundler}, one service for pages and routes`, sees === 'sees nothing' ? KEPT : works());
        await checkServing({ url: `${origin}/agents`, output });
        seen.saw(`Next, ${bundler}, \`serve\``, works());
      });
    });
  }

  for (const flag of ['--turbopack', '--webpack']) {
    it(`keeps the service in development when its module changes, ${flag}`, async () => {
      await withServer(['dev', flag], async (ask, _origin, output) => {
        assert.deepEqual(await borderOf(ask), crossed);
        assert.doesNotMatch(output(), /Only plain objects/);
        assert.equal(await chat(ask), '1 events');
        assert.deepEqual(await ask('/edge'), expected);
        assert.equal((await plainService(ask))[0], 'sees nothing');
        const texts = ['lib/sessions.ts', 'app/page.tsx']
          .map((name) => join(host.folder, name))
          .map((file) => [file, readFileSync(file, 'utf8')]);
        const [[sessions, made], [page, shows]] = texts;
        writeFileSync(sessions, `${made}\nexport const version = 2;\n`);
        writeFileSync(
          page,
          shows.replace('{ sessions }', '{ sessions, version }').replace('events`', 'events, ${version}`'),
        );
        let shown;
        // Until both are compiled the page is the one of before, or an error.
        for (const until = Date.now() + 120_000; Date.now() < until && !shown?.endsWith(', 2');) {
          shown = await pageOf(ask, '/').catch(({ message }) => message);
        }
        for (const [file, text] of texts) writeFileSync(file, text);
        assert.equal(shown, '1 events, 2');
      });
      seen.saw('Next, in development, one service after a change', KEPT);
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});
