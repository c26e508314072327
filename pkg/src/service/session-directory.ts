// The operations of a service beyond those of one session: the lists of apps and users, and the access of other parts
// of the package.

import { SessionPast } from './session-past.js';
import type { Lifetime } from './lifetime.js';
import type { LogReader } from './log-reader.js';
import type { LogWriter } from './log-writer.js';
import type { SweepAnswer, SweepRequest } from '../model/sweep.js';
import type { ServingAccess } from './serving-access.js';
import type {
  Abortable,
  ListAppsRequest,
  ListAppsResponse,
  ListUsersRequest,
  ListUsersResponse,
} from '../model/types.js';

/**
 * The methods of a service that lists of names and servers need. The code of each is loaded at its first call. What
 * servers need at each request is kept: to import a file once more takes longer than to append an event.
 */
export abstract class SessionDirectory extends SessionPast {
  readonly #lifetime: Lifetime;
  #logReader: LogReader | undefined;
  #logWriter: LogWriter | undefined;
  #serving: ServingAccess | undefined;

  /** @internal */
  constructor(lifetime: Lifetime) {
    super(lifetime);
    this.#lifetime = lifetime;
  }

  /**
   * Lists the apps that have a session, a value, or a user in `listUsers`, in the order of their UTF-8 bytes. Throws
   * `INVALID_ARGUMENT`, also over a store that cannot list them.
   */
  async listApps(request: ListAppsRequest = {}): Promise<ListAppsResponse> {
    const { listApps } = await import('./names.js');
    return await listApps(this.#lifetime, request);
  }

  /**
   * Lists the users in an app that have a session or a value, in the order of their UTF-8 bytes. Throws
   * `INVALID_ARGUMENT`, also over a store that cannot list them.
   */
  async listUsers(request: ListUsersRequest): Promise<ListUsersResponse> {
    const { listUsers } = await import('./names.js');
    return await listUsers(this.#lifetime, request);
  }

  /**
   * Removes sessions that have expired, and values of users without sessions (see `userTtl`), in slices, until nothing
   * is left or `limit` is reached. It may run beside writers and beside other sweeps, and be aborted at any moment.
   * What has expired is not there for any call, whether it was swept or not.
   *
   * Throws `INVALID_ARGUMENT`, also over a store that cannot sweep.
   */
  async sweep(request: SweepRequest = {}): Promise<SweepAnswer> {
    const { sweep } = await import('./sweep.js');
    return await sweep(this.#lifetime, request);
  }

  /** @internal Writes sessions that come from elsewhere. */
  async logWriter(options: Abortable): Promise<LogWriter> {
    const sessions = await this.#lifetime.begin(options);
    if (this.#logWriter === undefined) {
      const { logWriter } = await import('./log-writer.js');
      this.#logWriter = logWriter(this.#lifetime.componentsOf(sessions));
    }
    return this.#logWriter;
  }

  /** @internal Reads sessions that go elsewhere. */
  async logReader(options: Abortable): Promise<LogReader> {
    const sessions = await this.#lifetime.begin(options);
    if (this.#logReader === undefined) {
      const { logReader } = await import('./log-reader.js');
      this.#logReader = logReader(sessions);
    }
    return this.#logReader;
  }

  /** @internal The operations of a server of this service. */
  async serving(options: Abortable): Promise<ServingAccess> {
    const sessions = await this.#lifetime.begin(options);
    if (this.#serving === undefined) {
      const [{ serving }, access] = await Promise.all([import('./serving.js'), sessions.access()]);
      this.#serving ??= serving(this.#lifetime, access);
    }
    return this.#serving;
  }
}
