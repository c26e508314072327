// A Firefox of this machine, headless: it opens a page, which tells the tests by itself what it has seen.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  const program = ['firefox', 'firefox-esr'].find((name) => versionOf(name));
  if (program === undefined) throw new Error('there is no Firefox: node scripts/setup.mjs test installs it');
  const profile = mkdtempSync(join(tmpdir(), 'statepad-firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const child = spawn(program, ['--headless', '--no-remote', '--profile', profile, url], {
    env: { ...process.env, MOZ_CRASHREPORTER_DISABLE: '1' },
    stdio: 'ignore',
    // Its processes are ended together.
    detached: process.platform !== 'win32',
  });
  const ended = new Promise((resolve) => child.on('close', resolve).on('error', resolve));
  return async () => {
    const { pid, exitCode, signalCode } = child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    }
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 });
  };
}
