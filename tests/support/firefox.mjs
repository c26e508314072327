// A Firefox of this machine, headless: it opens a page, which tells the tests by itself what it has seen, or which the
// tests drive by Firefox's own protocol.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { versionOf } from '../../scripts/tools.mjs';

/** The preferences that keep a fresh profile from calling anybody and from showing pages of its own. */
const PREFERENCES = {
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'captivedetect.canonicalURL': '',
  'datareporting.policy.dataSubmissionEnabled': false,
  'extensions.update.enabled': false,
  'media.gmp-manager.url': '',
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'network.prefetch-next': false,
  'services.settings.server': 'http://127.0.0.1:9',
  'toolkit.telemetry.enabled': false,
};

/**
 * Opens a page; answers a function that ends the browser.
 *
 * @param {string} url
 */
export function openFirefox(url) {
  return start([url]).stop;
}

/**
 * Opens a page that knows nothing of the tests. `run(body, ...args)` runs the body of a function in it, with JSON for
 * `arguments`, whatever the policy of the page is, waits for the promise that it returns, and answers its JSON.
 *
 * @param {string} url
 */
export async function driveFirefox(url) {
  const { profile, stop, ended } = start(['--marionette'], { 'marionette.port': 0 });
  try {
    const port = await Promise.race([portIn(profile), ended.then(() => Promise.reject(new Error('it has ended')))]);
    const { ask, end } = await marionetteAt(port);
    await ask('WebDriver:NewSession', {});
    await ask('WebDriver:Navigate', { url });
    return {
      run: async (/** @type {string} */ script, /** @type {unknown[]} */ ...args) =>
        (await ask('WebDriver:ExecuteScript', { script, args, sandbox: null, scriptTimeout: 30_000 })).value,
      stop: async () => {
        end();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The port that a browser has written into its profile.
 *
 * @param {string} profile @returns {Promise<number>}
 */
async function portIn(profile) {
  const file = join(profile, 'MarionetteActivePort');
  const text = await new Promise((resolve) => {
    const look = () => {
      const written = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
      if (written !== '') {
        watcher.close();
        resolve(written);
      }
    };
    const watcher = watch(profile, look);
    look();
  });
  return Number(text);
}

/**
 * A connection by the protocol Marionette: messages are JSON behind their length and a colon.
 *
 * @param {number} port
 */
async function marionetteAt(port) {
  const socket = connect(port, '127.0.0.1');
  const messages = messagesOf(socket);
  await once(socket, 'connect');
  await messages.next();
  let id = 0;
  const ask = async (/** @type {string} */ name, /** @type {object} */ parameters) => {
    id += 1;
    const message = Buffer.from(JSON.stringify([0, id, name, parameters]));
    socket.write(`${message.length}:`);
    socket.write(message);
    const { value, done } = await messages.next();
    if (done) throw new Error('the browser has ended');
    const [, , error, answer] = value;
    if (error !== null) throw new Error(`${name}: ${error.error}: ${error.message}`);
    return answer;
  };
  return { ask, end: () => socket.destroy() };
}

/** @param {AsyncIterable<Buffer>} socket */
async function* messagesOf(socket) {
  let held = Buffer.alloc(0);
  for await (const chunk of socket) {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const colon = held.indexOf(':');
      const end = colon + 1 + Number(held.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || held.length < end) break;
      yield JSON.parse(held.subarray(colon + 1, end).toString());
      held = held.subarray(end);
    }
  }
}

/**
 * Starts a browser with a profile of its own.
 *
 * @param {string[]} args @param {Record<string, unknown>} [preferences]
 */
function start(args, preferences = {}) {
  const program = ['firefox', 'firefox-esr'].find((name) => versionOf(name));
  if (program === undefined) throw new Error('there is no Firefox: node scripts/setup.mjs test installs it');
  const profile = mkdtempSync(join(tmpdir(), 'statepad-firefox-'));
  const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, ...args], {
    env: { ...process.env, MOZ_CRASHREPORTER_DISABLE: '1' },
    stdio: 'ignore',
    // Its processes are ended together.
    detached: process.platform !== 'win32',
  });
  const ended = new Promise((resolve) => child.on('close', resolve).on('error', resolve));
  const stop = async () => {
    const { pid, exitCode, signalCode } = child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    }
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  };
  return { profile, stop, ended };
}
