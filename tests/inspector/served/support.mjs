// The page of `statepad inspect` in a browser, beside other processes that write to what it shows.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pythonEnv, pythonOf } from '../../../scripts/python.mjs';
import { started } from '../../cli/process.mjs';
import { openChromium, openPage } from '../../support/chromium.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A folder of the tests of a file, which is removed after them. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-served-'));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The things that tests still have to end. */
const endings = new WeakMap();

/**
 * Does something after a test, before what it was to do already: a page is closed before the server that it asks.
 *
 * @param {import('node:test').TestContext} t @param {() => unknown} act
 */
export function atEnd(t, act) {
  const acts = endings.get(t) ?? [];
  if (!endings.has(t)) {
    endings.set(t, acts);
    t.after(async () => {
      const failures = [];
      for (const next of acts.toReversed()) {
        try {
          await next();
        } catch (error) {
          // Processes that are not ended would hold up the tests.
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    });
  }
  acts.push(act);
}

/**
 * Starts `statepad inspect` on an address, until the test is over. Answers the `page`: its address with the token, its
 * `origin`, and the `token`.
 *
 * @param {import('node:test').TestContext} t @param {string} address
 * @param {{ options?: string[], env?: Record<string, string> }} [given]
 */
export async function inspected(t, address, { options = [], env } = {}) {
  const { printed, stop, token } = await started(['inspect', address, '--no-open', ...options], { env });
  atEnd(t, () => stop('SIGKILL'));
  const page = JSON.parse(printed.out).inspector;
  return { page, origin: new URL(page).origin, token };
}

/**
 * Starts a process that answers each line of JSON with one. `ask` tells it something and answers what it prints.
 *
 * @param {import('node:test').TestContext} t @param {string} file @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
async function talking(t, file, args, env = process.env) {
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise((resolve) => child.once('close', resolve));
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await closed;
  });
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${args.at(-1)} has ended`);
    return JSON.parse(value);
  };
  await next();
  const ask = async (told) => {
    child.stdin.write(`${JSON.stringify(told)}\n`);
    return await next();
  };
  return ask;
}

/** Starts a process that writes to a source by statepad; answers what tells it the changes. See writer.mjs. */
export async function writerTo(t, source) {
  return await talking(t, process.execPath, [here('writer.mjs'), JSON.stringify(source)]);
}

/**
 * Starts an agent of google-adk with a session; answers what says something to it. `token` is that of a server. See
 * agent.py.
 */
export async function agentAt(t, kind, address, { appName, userId, sessionId }, token = '') {
  const args = ['-W', 'ignore', here('agent.py'), kind, address, appName, userId, sessionId];
  return await talking(t, await pythonOf('newest'), args, { ...pythonEnv, STATEPAD_TOKEN: token });
}

/** Tells the page's own violations of its policy as errors of the console, which playwright hears. */
const TELLS_VIOLATIONS = () => {
  globalThis.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    console.error(`policy: ${violatedDirective} ${blockedURI}`);
  });
};

/**
 * Opens a browser for the tests of a `describe`. Answers what opens pages, each in a context of its own unless one is
 * given: its test fails when something was written to the console, when a dialog opened, when its policy was violated,
 * or when a request went to another host.
 */
export function browser() {
  const it = {};
  before(async () => {
    it.browser = await openChromium();
  });
  after(() => it.browser?.close());
  return {
    /**
     * Opens an address. `options` are playwright's for a context; `expects` matches complaints that are no failure;
     * `origin` is the one that may be asked, that of the address by default.
     *
     * @param {import('node:test').TestContext} t @param {string} address
     * @param {{ options?: object, context?: import('playwright-core').BrowserContext, expects?: RegExp,
     *   origin?: string }} [given]
     */
    async open(t, address, { options, context, expects, origin = new URL(address).origin } = {}) {
      const place =
        context ??
        (await it.browser.newContext({
          viewport: { width: 1440, height: 900 },
          reducedMotion: 'reduce',
          ...options,
        }));
      const { page, complaints } = await openPage(place, origin);
      page.on('dialog', async (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        await dialog.dismiss();
      });
      // A page that loses its server complains: it is closed first.
      atEnd(t, async () => {
        await (context === undefined ? place.close() : page.close());
        const unexpected = complaints.filter((complaint) => !expects?.test(complaint));
        assert.deepEqual(unexpected, []);
      });
      await page.addInitScript(TELLS_VIOLATIONS);
      await page.goto(address);
      return page;
    },
  };
}

/** An event of the conversation by its revision. */
export const entry = (page, revision) => page.locator(`statepad-conversation #entry-${revision}`);

/** The state that the page shows. */
export const state = (page) => page.locator('statepad-state');
