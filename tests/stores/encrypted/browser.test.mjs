// The encrypted store in a browser, over IndexedDB.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { storeCases } from 'statepad/testing';
import { openChromium, openPage } from '../../support/chromium.mjs';
import { serve } from '../../support/serve.mjs';
import { operators } from './support.mjs';

describe('encrypted, in a browser', () => {
  let browser;
  let site;

  before(async () => {
    const entry = fileURLToPath(new URL('page.js', import.meta.url));
    const { outputFiles } = await build({
      entryPoints: [entry],
      bundle: true,
      format: 'iife',
      target: 'es2022',
      write: false,
      logLevel: 'error',
    });
    const html = `<!doctype html><script>${outputFiles[0].text.replaceAll('</script', '<\\/script')}</script>`;
    site = await serve({ folder: fileURLToPath(new URL('.', import.meta.url)), pages: { '/': html } });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.stop();
  });

  test('every store case holds', async () => {
    const { page, complaints } = await openPage(browser, site.origin);
    await page.goto(site.origin);
    // With encrypted names nobody can tell which ones others have deleted. Operators are left to the service. Limits
    // count what is sealed.
    const without = ['changed', 'sizes', ...operators];
    for (const { name } of storeCases.filter(({ needs }) => !needs.some((need) => without.includes(need)))) {
      assert.equal(await page.evaluate((each) => globalThis.runCase(each), name), undefined);
    }
    assert.deepEqual(complaints, []);
  });
});
