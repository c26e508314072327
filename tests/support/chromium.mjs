// A Chromium of this machine, headless, that calls nobody.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

function found(program) {
  for (const folder of process.env.PATH.split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // It may be in the next folder.
    }
  }
  throw new Error(`${program} is not in the PATH: node scripts/setup.mjs test installs it or says how`);
}

/** A browser; or, with a folder for what its pages store, one context that keeps it there. */
export function openChromium(folder) {
  const options = {
    executablePath: found('chromium'),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  };
  return folder === undefined ? chromium.launch(options) : chromium.launchPersistentContext(folder, options);
}

/**
 * A new page, and a list that fills with everything in it that should not be: errors, warnings, requests to elsewhere.
 */
export async function openPage(browser, origin) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    // What a page was still loading when it was left is aborted by the browser.
    const why = request.failure()?.errorText;
    if (why !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} (${why})`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) complaints.push(`another host: ${request.url()}`);
  });
  return { page, complaints };
}
