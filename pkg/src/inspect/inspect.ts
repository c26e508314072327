// The inspector over the sessions of a running program, or over a server of them.

import { openBrowser } from './browser.js';
import { inspectorFiles } from './files.js';
import { listen } from './listen.js';
import { checkInspectOptions, type InspectedServer, type InspectOptions } from './options.js';
import { PassingApi } from './passing.js';
import { authorizeBy, newSecret, OpeningApi } from './token.js';
import { checkOptions, checkOptionalString, invalid } from '../checks/arguments.js';
import { InspectorApi } from '../serve/inspector/api.js';
import { checkServeOptions, type CheckedOptions } from '../serve/options.js';
import { checkService, partsOf } from '../serve/parts.js';
import { handlerOf, type ServerParts } from '../serve/server.js';
import type { SessionService } from '../service/session-service.js';

/** An inspector that is open. */
export interface Inspection {
  /** The address of the page, with its token: whoever has it may see what the page shows. */
  readonly url: string;
  /** Ends the page's streams, and takes no more requests. The service stays open. Further calls do nothing more. */
  close(): Promise<void>;
}

/** The names of this machine. Under any other one a page of a foreign site would reach the server. */
const HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Serves the inspector for the sessions of a service on 127.0.0.1, prints the address of its page, and resolves when
 * it listens. The page follows what the program writes. It only reads, unless `write` is true.
 *
 * The address has a token that was made for this call, behind its `#`, which browsers send to no server. Requests
 * without it are answered with 401, those to another `Host` or of another origin with 403.
 *
 * Instead of a service of this process, it takes the URL of a server of `statepad/serve` and its token; that token
 * stays in this process.
 *
 * Node only. Throws `INVALID_ARGUMENT` for a service or an option that it cannot use, and for a port that is taken.
 *
 * @example
 * await inspect(service);
 * // inspector of sessions: http://127.0.0.1:52817/inspector/#token=…
 */
export async function inspect(
  source: SessionService | InspectedServer,
  options: InspectOptions = {},
): Promise<Inspection> {
  const server = isServer(source) ? checkedServer(source) : undefined;
  if (!isServer(source)) {
    checkService(source);
  }
  const { principal, ...settings } = checkInspectOptions(options, server && new URL(server.url).host);
  if (server !== undefined && options.only !== undefined) {
    invalid('only', 'is for a service: a server limits what its tokens may see');
  }
  const token = newSecret();
  const checked = checkServeOptions({
    authorize: authorizeBy(token, principal),
    hosts: HOSTS,
    onError: settings.onError,
    inspector: await inspectorFiles({ label: settings.label }),
  });
  const serving = { ...checked, streams: { ...checked.streams, background: !settings.keepAlive } };
  const parts = server === undefined ? partsOf(source as SessionService, serving) : passingParts(server, serving);
  const opening = new OpeningApi(token, serving.errors);
  const handler = handlerOf(serving, { ...parts, apis: [opening, ...parts.apis] });
  const listening = await listen(handler, settings);
  const { origin } = listening;
  const url = `${origin}/inspector/#token=${token}`;
  settings.log(`inspector of ${settings.label}: ${url}`);
  if (settings.open) {
    await openBrowser(origin + opening.path);
  }
  let closing: Promise<void> | undefined;
  return { url, close: async () => await (closing ??= listening.close()) };
}

function passingParts(server: InspectedServer, { errors, inspector }: CheckedOptions): ServerParts {
  const passing = new PassingApi(server, errors);
  const apis = [...(inspector === undefined ? [] : [new InspectorApi(inspector, errors)]), passing];
  return { apis, endStreams: () => passing.close() };
}

function isServer(source: unknown): source is InspectedServer {
  return typeof source === 'object' && source !== null && 'url' in source;
}

function checkedServer(server: InspectedServer): InspectedServer {
  checkOptions(server, ['url', 'token'], 'server');
  const { url, token } = server;
  checkOptionalString(token, 'server.token');
  if (!URL.canParse(String(url)) || !/^https?:$/.test(new URL(url).protocol)) {
    invalid('server.url', 'must be the URL of a server, as https://example.com/agents');
  }
  return server;
}
