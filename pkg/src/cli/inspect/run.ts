// `statepad inspect`: from its arguments to a page, until a signal ends it.

import process from 'node:process';
import { greetingForPeople, greetingForPrograms } from './greeting.js';
import { settingsOf, type InspectSettings } from './settings.js';
import { CommandError, EXIT } from '../errors.js';
import { endSignals } from '../serve/signals.js';
import { openedSource, type OpenedSource } from '../sources/source.js';
import { tokenOf } from '../sources/server.js';
import { tellError } from '../tell.js';
import { inspect, type InspectedServer } from '../../inspect.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionService } from '../../index.js';

/** Serves the page. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { folder, secrets } = surroundings;
  const settings = settingsOf(args);
  const { write, only } = settings;
  secrets.hideIn(settings.addressText);
  const onError = (error: unknown): void => tellError(surroundings, error);
  const opened = await openedSource(settings.address, {
    folder,
    secrets,
    write,
    tokenFile: settings.tokenFile,
    onError,
  });
  const signals = endSignals();
  try {
    if (write && opened.isReadOnly) {
      throw new CommandError(`${opened.name} can only be read: leave --write out`);
    }
    const inspection = await inspect(await inspectedOf(opened, settings), {
      port: settings.port,
      write,
      only,
      open: settings.open,
      label: opened.name,
      keepAlive: true,
      log: false,
      onError,
    });
    const { url } = inspection;
    secrets.hide(new URL(url).hash.replace('#token=', ''));
    greet({ url, store: opened.name, write });
    await signals.first;
    await Promise.race([inspection.close(), signals.second]);
    return EXIT.ok;
  } finally {
    await Promise.race([opened.close(), signals.second]);
  }
}

/** The sessions of this process, or the server that has been found to answer. */
async function inspectedOf(
  { service, source, name }: OpenedSource,
  { address, tokenFile }: InspectSettings,
): Promise<SessionService | InspectedServer> {
  if (service !== undefined || address.kind !== 'server') {
    return service as SessionService;
  }
  await source.listApps({ limit: 1 }).catch((error: unknown) => {
    throw new CommandError(`${name} cannot be inspected`, { cause: error });
  });
  return { url: address.url, token: await tokenOf(tokenFile) };
}

function greet(greeting: Parameters<typeof greetingForPeople>[0]): void {
  process.stdout.write(`${process.stdout.isTTY ? greetingForPeople(greeting) : greetingForPrograms(greeting)}\n`);
}
