// A Chromium of this machine, headless, that calls nobody.

import { chromium } from 'playwright-core';
import { pathOfProgram } from './programs.mjs';

/**
 * A browser; or, with a folder for what its pages store, one context that keeps it there.
 *
 * @param {string} [folder]
 */
export function openChromium(folder) {
  const executablePath = pathOfProgram('chromium');
  if (executablePath === undefined) {
    throw new Error('chromium is not in the PATH: node scripts/setup.mjs test installs it or says how');
  }
  const options = {
    executablePath,
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
 *
 * @param {{ newPage: () => Promise<import('playwright-core').Page> }} browser @param {string} origin
 */
export async function openPage(browser, origin) {
  const page = await browser.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('requestfailed', (request) => {
    // The browser aborts the loads of a page that is left.
    const why = request.failure()?.errorText;
    if (why !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()} (${why})`);
  });
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (protocol !== 'data:' && asked !== origin) complaints.push(`another host: ${request.url()}`);
  });
  return { page, complaints };
}
