// `statepad sweep`: removes what has expired, or says what it would remove.

import { settingsOf, type SweepSettings } from './settings.js';
import { CommandError, EXIT } from '../errors.js';
import { Output } from '../output/output.js';
import { Progress } from '../output/progress.js';
import { openedSource } from '../sources/source.js';
import { tellError } from '../tell.js';
import { visible, visibleJson } from '../visible.js';
import { counted } from '../work/filter.js';
import { interruption } from '../work/interruption.js';
import { isStatepadError, type SweepAnswer } from '../../index.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionOperations } from '../../client.js';

/** The most that is removed between two looks at the signal and the progress. */
const AT_ONCE = 500;

/** Sweeps. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { folder, secrets } = surroundings;
  const settings = settingsOf(args);
  secrets.hideIn(settings.addressText);
  const signal = interruption();
  const opened = await openedSource(settings.address, {
    folder,
    secrets,
    write: !settings.dryRun,
    tokenFile: settings.tokenFile,
    growth: { userTtl: settings.userTtl },
    onError: (error) => tellError(surroundings, error),
  });
  const swept = { sessions: 0, users: 0 };
  try {
    await sweep(opened.source, settings, signal, swept);
    await tellSwept(swept, opened.name, settings);
    return EXIT.ok;
  } catch (error) {
    if (swept.sessions + swept.users > 0) {
      await tellSwept(swept, opened.name, settings);
    }
    throw signal.aborted ? error : refusal(error, opened.name, opened.kind === 'server');
  } finally {
    await opened.close();
  }
}

/** Adds what is removed to `swept`. */
async function sweep(
  source: SessionOperations,
  { app: appName, limit, dryRun, quiet }: SweepSettings,
  signal: AbortSignal,
  swept: { sessions: number; users: number },
): Promise<void> {
  const progress = new Progress((count) => `${count.toLocaleString('en')} removed so far`, { isQuiet: quiet });
  try {
    for (let isMore = true, left = limit; isMore && left > 0;) {
      signal.throwIfAborted();
      const atOnce = dryRun ? left : Math.min(left, AT_ONCE);
      const { sessions, users } = await source.sweep({
        appName,
        ...(Number.isFinite(atOnce) && { limit: atOnce }),
        ...(dryRun && { dryRun }),
        signal,
      });
      swept.sessions += sessions;
      swept.users += users;
      left -= sessions + users;
      isMore = !dryRun && sessions + users >= atOnce;
      progress.update(swept.sessions + swept.users);
    }
  } finally {
    progress.clear();
  }
}

async function tellSwept({ sessions, users }: SweepAnswer, store: string, settings: SweepSettings): Promise<void> {
  const { dryRun, json, quiet } = settings;
  const output = new Output();
  if (json) {
    await output.line(visibleJson({ kind: 'swept', store, sessions, users, dryRun }));
  } else if (!quiet || dryRun) {
    const and = users === 0 ? '' : ` and the values of ${counted(users, 'user')}`;
    const verb = sessions === 1 && users === 0 ? ['was', 'would be'] : ['were', 'would be'];
    await output.line(visible(`${store}: ${counted(sessions, 'session')}${and} ${verb[dryRun ? 1 : 0]} removed`));
  }
  await output.end();
}

/** The error of a sweep for people. */
function refusal(error: unknown, store: string, isServer: boolean): unknown {
  const { code, status } = isStatepadError(error) ? error : {};
  if (isServer && code === 'FORBIDDEN') {
    const help = 'its line in the token file of the server needs may=sweep, and for all apps no apps=';
    return new CommandError(`the token may not sweep: ${help}`, { cause: error });
  }
  if (isServer && (status === 404 || status === 405)) {
    return new CommandError(`${store} cannot sweep: it is the server of an earlier version`, { cause: error });
  }
  return new CommandError(`${store} cannot be swept`, { cause: error });
}
