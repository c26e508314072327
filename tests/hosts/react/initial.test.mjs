// A session that a server has read, as `initial`: it is shown for its own session, and for no other.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPage } from '../../support/chromium.mjs';
import { imported, KITS, openSite, shows } from './site.mjs';

const IDS = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };

/** Components that show whose session they have. */
const shown = `
  import { SessionProvider, useSession, useSessionState } from 'statepad/react';

  function Whole() {
    const { status, session } = useSession();
    return <p id="whole">{[status, session?.userId, session?.id].join(' ')}</p>;
  }
  function Secret() {
    return <p id="secret">{String(useSessionState((state) => state['user:secret']))}</p>;
  }
  export function Shown(props) {
    return <SessionProvider {...props}><Whole /><Secret /></SessionProvider>;
  }
`;

/** A page whose session, source and \`initial\` are set from outside. */
const page = `
  import { useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { connect } from 'statepad/client';
  import { Shown } from './shown.jsx';

  const source = connect({ url: '/agents' });
  function App(props) {
    const [given, set] = useState(props);
    globalThis.set = set;
    return <Shown source={source} appName="tutor" {...given} />;
  }
  globalThis.open = (props) => createRoot(document.getElementById('root')).render(<App {...props} />);
`;

const server = `
  import { renderToString } from 'react-dom/server';
  import { Shown } from './shown.jsx';
  export const render = (props) => renderToString(<Shown {...props} />);
`;

for (const kit of KITS) {
  describe(`initial, in ${kit}`, () => {
    let site;
    let initial;
    let unreachable = false;
    before(async () => {
      const files = { 'shown.jsx': shown, 'render.jsx': server };
      site = await openSite(kit, { page, files });
      const session = await site.service.createSession({ ...IDS, state: { 'user:secret': 'of Ana' } });
      initial = JSON.parse(JSON.stringify(session));
    });
    after(() => site?.stop());

    async function opened(props) {
      const { page, complaints } = await openPage(site.browser, site.origin);
      await page.goto(site.origin);
      if (unreachable) await page.route('**/agents/**', (route) => route.abort());
      await page.evaluate((given) => window.open(given), props);
      return { page, complaints };
    }

    it('is not shown when the user or the id becomes another one while it stays', async () => {
      const { page } = await opened({ userId: 'ana', sessionId: 'monday', initial });
      await shows(page, 'whole', 'ready ana monday');
      // Nothing of the other session is read: only what was given could be shown.
      await page.route('**/agents/**', () => {});
      await page.evaluate((given) => window.set(given), { userId: 'bob', sessionId: 'monday', initial });
      await shows(page, 'whole', 'loading  ');
      await shows(page, 'secret', 'undefined');
      await page.evaluate((given) => window.set(given), { userId: 'ana', sessionId: 'tuesday', initial });
      await shows(page, 'whole', 'loading  ');
      await page.close();
    });

    it('is not shown for another session when the source cannot be reached', async () => {
      unreachable = true;
      try {
        const { page } = await opened({ userId: 'bob', sessionId: 'monday', initial });
        await shows(page, 'whole', 'error  ');
        await shows(page, 'secret', 'undefined');
        await page.evaluate((given) => window.set(given), { userId: 'ana', sessionId: 'monday', initial });
        await shows(page, 'whole', 'error ana monday');
        await shows(page, 'secret', 'of Ana');
        await page.close();
      } finally {
        unreachable = false;
      }
    });

    it('is not rendered for another session on a server', async () => {
      const { render } = await imported(site.folder, 'render.jsx');
      const rendered = (key) => render({ source: site.service, ...IDS, ...key, initial });
      assert.match(rendered({}), /ready ana monday.*of Ana/);
      for (const key of [{ userId: 'bob' }, { sessionId: 'tuesday' }, { appName: 'shop' }]) {
        assert.match(rendered(key), /loading.*undefined/);
        assert.doesNotMatch(rendered(key), /of Ana/);
      }
      assert.match(render({ source: site.service, ...IDS, initial: null }), /loading/);
    });
  });
}
