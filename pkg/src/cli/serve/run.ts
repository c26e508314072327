// `statepad serve`: from its arguments to a server, until a signal ends it.

import { readFile, stat } from 'node:fs/promises';
import process from 'node:process';
import { authorizeBy, madeToken } from './authorize.js';
import { greetingForPeople, greetingForPrograms } from './greeting.js';
import { listen, type HttpServer } from './http-server.js';
import { Log } from './log.js';
import { hostInUrl, settingsOf, type ServeSettings } from './options.js';
import { endSignals, type EndSignals } from './signals.js';
import { tokensIn, type KnownToken } from './token-file.js';
import { shownAddress } from '../addresses.js';
import { EXIT, UsageError } from '../errors.js';
import { problemOf } from '../problem.js';
import { openedService } from '../sources/service.js';
import { inspectorFiles } from '../../inspect.js';
import { serve, type InspectorFiles, type ServeHandler } from '../../serve.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionService } from '../../index.js';

/** The files of the inspector; `undefined` where the page is left out. */
type Inspector = InspectorFiles | undefined;

/** The shortest token that nobody guesses. */
const LEAST_TOKEN = 16;
/** The bits of a file that others may read. */
const READABLE_BY_OTHERS = 0o044;

/** The parts of a run that need what surrounds it. */
interface Context {
  readonly settings: ServeSettings;
  readonly log: Log;
  readonly tellError: (error: unknown) => string;
}

/** Runs the server. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, { folder, secrets, debug }: Surroundings): Promise<number> {
  const settings = settingsOf(args);
  secrets.hideIn(settings.addressText);
  const log = new Log({
    format: settings.log === 'auto' ? (process.stderr.isTTY ? 'text' : 'json') : settings.log,
    quiet: settings.quiet,
    write: (line) => process.stderr.write(line),
    now: () => new Date(),
  });
  const context = { settings, log, tellError: (error: unknown) => problemOf(error, secrets, debug) };
  logWarnings(context);
  const tokens = await tokensOf(context);
  tokens?.known.forEach(({ token }) => secrets.hide(token));
  const opened = await openedService(settings.address, {
    folder,
    migrate: settings.migrate,
    growth: settings.growth,
    secrets,
    write: true,
    onError: (error) => log.warn(context.tellError(error)),
  });
  const signals = endSignals();
  try {
    const inspector = settings.hasInspector ? await filesFor(context) : undefined;
    const handler = handlerOf(opened.service, { tokens: tokens?.known, inspector }, context);
    const server = await listen(handler, {
      host: settings.host,
      port: settings.port,
      onError: (error, { number }) => log.error(context.tellError(error), number),
    });
    greet(server, { token: tokens?.made, hasInspector: inspector !== undefined }, context);
    return await served(server, signals, context);
  } finally {
    await Promise.race([opened.close(), signals.second]);
  }
}

/** Serves until a signal. Resolves with the code to exit with. */
async function served(server: HttpServer, signals: EndSignals, { settings, log }: Context): Promise<number> {
  const signal = await signals.first;
  log.info(`${signal}: ends when the requests under way are answered`);
  const cutOff = await Promise.race([server.stop(settings.grace), signals.second]);
  if (typeof cutOff === 'string') {
    log.warn(`${cutOff}: ended at once`);
    server.cut();
    return EXIT.failure;
  }
  if (cutOff > 0) {
    log.warn(`requests cut off after ${settings.grace / 1_000} s: ${cutOff}`);
    return EXIT.failure;
  }
  log.info('ended');
  return EXIT.ok;
}

function handlerOf(
  service: SessionService,
  { tokens, inspector }: { readonly tokens: readonly KnownToken[] | undefined; readonly inspector: Inspector },
  { settings, log, tellError }: Context,
): ServeHandler {
  const { basePath, hosts, origins, bodyLimit, streams, poll } = settings;
  return serve(service, {
    ...(tokens === undefined ? { insecure: true } : { authorize: authorizeBy(tokens) }),
    basePath,
    hosts,
    ...(origins.length > 0 && { cors: { origins } }),
    limits: { body: bodyLimit, streams },
    poll,
    inspector,
    onError: (error, { number }) => log.error(tellError(error), number),
    onRequest: (line) => log.request(line),
  });
}

/** The tokens of the file, or one that is made; none where no token is asked for. */
async function tokensOf(
  context: Context,
): Promise<{ readonly known: readonly KnownToken[]; readonly made?: string } | undefined> {
  const { settings, log } = context;
  if (settings.insecure) {
    log.warn('no token is asked for: every program of this machine may read and write everything');
    return undefined;
  }
  if (!settings.isLoopback) {
    log.warn('tokens travel in the clear: put a proxy with TLS before it');
  }
  if (settings.tokenFile === undefined) {
    const made = madeToken();
    return { known: [made], made: made.token };
  }
  return { known: await tokensOfFile(settings.tokenFile, log) };
}

async function tokensOfFile(path: string, log: Log): Promise<readonly KnownToken[]> {
  const [bytes, { mode }] = await Promise.all([readFile(path), stat(path)]).catch((error: unknown) => {
    const { code = 'it cannot be read' } = error as { readonly code?: string };
    throw new UsageError(`the token file ${path}: ${code === 'ENOENT' ? 'there is no such file' : code}`);
  });
  if ((mode & READABLE_BY_OTHERS) !== 0 && process.platform !== 'win32') {
    log.warn(`others may read the token file ${path}: chmod 600 keeps it to its owner`);
  }
  const tokens = tokensIn(bytes, path);
  const short = tokens.filter(({ token }) => token.length < LEAST_TOKEN).length;
  if (short > 0) {
    log.warn(`tokens with less than ${LEAST_TOKEN} characters can be guessed: ${short} in ${path}`);
  }
  return tokens;
}

/** The files of the inspector. Where they are missing the sessions are served all the same. */
async function filesFor({ settings, log, tellError }: Context): Promise<Inspector> {
  try {
    return await inspectorFiles({ label: shownAddress(settings.address) });
  } catch (error) {
    log.warn(tellError(error));
    return undefined;
  }
}

function greet(
  { port }: HttpServer,
  { token, hasInspector }: { readonly token: string | undefined; readonly hasInspector: boolean },
  { settings }: Context,
): void {
  const { host, basePath, address, insecure } = settings;
  const url = `http://${hostInUrl(host)}:${port}${basePath}`;
  const inspector = hasInspector ? `${url}/inspector/` : undefined;
  const greeting = { url, store: shownAddress(address), token, inspector, insecure };
  process.stdout.write(`${process.stdout.isTTY ? greetingForPeople(greeting) : greetingForPrograms(greeting)}\n`);
}

/** Writes the warnings of the process into the log. That SQLite is new in Node is none. */
function logWarnings({ log }: Context): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') {
      log.warn(warning.message);
    }
  });
}
