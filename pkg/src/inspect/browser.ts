// The browser of the user.

import { spawn } from 'node:child_process';
import process from 'node:process';

/** The programs that open an address, by the platform. None of them is a shell. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [file: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const OTHERS = ['xdg-open'] as const;

/**
 * Opens an address in the browser of the user. Resolves with false when there is no program for that; a program that
 * has started is not waited for.
 */
export async function openBrowser(url: string): Promise<boolean> {
  const [file, ...args] = OPENERS[process.platform] ?? OTHERS;
  const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
  child.unref();
  return await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => resolve(true));
  });
}
