// A browser with a profile on disk, and pages in it that have the kit of the IndexedDB tests.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { openChromium, openPage } from '../../support/chromium.mjs';
import { serve } from '../../support/serve.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));

async function bundled(name) {
  const entryPoints = [join(folder, name)];
  const { outputFiles } = await build({
    entryPoints,
    bundle: true,
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0].text;
}

export class Browser {
  #context;
  /** Another browser, whose pages store in memory. */
  #other;
  #profile;
  #site;

  static async start() {
    const [kit, worker] = await Promise.all([bundled('page.js'), bundled('worker.js')]);
    const html = `<!doctype html><script>${kit.replaceAll('</script', '<\\/script')}</script>`;
    const browser = new Browser();
    browser.#site = await serve({
      folder,
      pages: {
        '/': html,
        '/worker.js': { html: worker, headers: { 'content-type': 'text/javascript' } },
        '/sandboxed': { html, headers: { 'content-security-policy': 'sandbox allow-scripts' } },
      },
    });
    browser.#profile = await mkdtemp(join(tmpdir(), 'statepad-indexeddb-'));
    browser.#context = await openChromium(browser.#profile);
    return browser;
  }

  get origin() {
    return this.#site.origin;
  }

  /** A new tab, and a list of what it complains about. */
  async open(path = '/', origin = this.origin) {
    const tab = await openPage(this.#context, origin);
    await tab.page.goto(`${origin}${path}`);
    return tab;
  }

  /** A page of another browser, which has no profile. */
  async openWithoutProfile() {
    this.#other ??= await openChromium();
    const { page } = await openPage(this.#other, this.origin);
    await page.goto(this.origin);
    return page;
  }

  /** A connection to the browser's own side of a tab. */
  devtools(page) {
    return this.#context.newCDPSession(page);
  }

  /** Ends the browser, in the way that is given or as its user would, and starts it with the same profile. */
  async restart(end = (context) => context.close()) {
    await end(this.#context);
    this.#context = await openChromium(this.#profile);
  }

  async stop() {
    await this.#other?.close();
    await this.#context?.close();
    await this.#site?.stop();
    // Processes of the browser may write to its folder for a moment longer.
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10 });
  }
}
