// ADK's Runner, limited to one run at a time for a session.

import { Runner, type Event, type RunnerConfig } from '@google/adk';
import { StatepadSessionService } from './session-service.js';
import { checkOptions, invalid } from '../checks/arguments.js';
import { OPTIONS } from '../input/requests.js';
import type { Lease, WithLeaseOptions } from '../model/lease.js';

/** The configuration of a {@link LeasedRunner}. */
export interface LeasedRunnerConfig extends RunnerConfig {
  readonly sessionService: StatepadSessionService;
  /**
   * The duration of the lease of a killed run (`ttl`), and the time that a run waits for the one before (`wait`), in
   * milliseconds: 30,000 and 0 by default.
   */
  readonly lease?: Pick<WithLeaseOptions, 'ttl' | 'wait'> | undefined;
}

/**
 * ADK's `Runner` that leases the session for each run: from before it reads the session to the end of the invocation,
 * in any case. While another run has the lease, in this process or in another one, a run waits or throws
 * `LEASE_HELD`. A run whose lease was taken over, because its process stood still for longer than `ttl`, writes
 * nothing more: it is aborted and throws `LEASE_LOST`.
 *
 * @example
 * const runner = new LeasedRunner({ appName, agent, sessionService, lease: { ttl: 10_000, wait: 60_000 } });
 */
export class LeasedRunner extends Runner {
  readonly #sessions: StatepadSessionService;
  readonly #options: WithLeaseOptions;

  constructor({ lease = {}, ...config }: LeasedRunnerConfig) {
    if (!((config.sessionService as unknown) instanceof StatepadSessionService)) {
      invalid('sessionService', 'must be a StatepadSessionService');
    }
    checkOptions(lease, OPTIONS.withLease, 'lease');
    super({ ...config, ...withPlugin(config) });
    this.#sessions = config.sessionService;
    this.#options = lease;
  }

  /** Runs the agent as `Runner.runAsync` does, under the lease of the session. */
  override async *runAsync(params: Parameters<Runner['runAsync']>[0]): AsyncGenerator<Event, void, undefined> {
    const { userId, sessionId, abortSignal } = params;
    const name = { appName: this.appName, userId, id: sessionId };
    const { lease, release } = await this.#lease(name, abortSignal);
    try {
      // This run reads and writes its session under the lease; other runs of this runner have their own.
      const sessionService = leased(this.#sessions, lease);
      const run = Object.create(this, { sessionService: { value: sessionService } }) as Runner;
      const signals = abortSignal === undefined ? [lease.signal] : [lease.signal, abortSignal];
      yield* super.runAsync.call(run, { ...params, abortSignal: AbortSignal.any(signals) });
    } finally {
      // The agent's error comes first. The signal of the lease reports its loss.
      await release().catch(() => undefined);
    }
    // ADK ends an aborted run silently.
    if (lease.signal.aborted) {
      throw lease.signal.reason;
    }
  }

  /** Takes the lease, which is renewed until it is released. */
  async #lease(
    name: { readonly appName: string; readonly userId: string; readonly id: string },
    signal: AbortSignal | undefined,
  ): Promise<{ readonly lease: Lease; readonly release: () => Promise<void> }> {
    return await new Promise((resolve, reject) => {
      const leasing = this.#sessions.service.withLease(
        name,
        async (lease) =>
          await new Promise<void>((finish) => {
            const release = async (): Promise<void> => {
              finish();
              await leasing;
            };
            resolve({ lease, release });
          }),
        { ...this.#options, signal },
      );
      leasing.catch(reject);
    });
  }
}

/** The configuration's plugins, with that of its session service first unless the application has it. */
function withPlugin({ app, plugins = [], sessionService }: LeasedRunnerConfig): Pick<RunnerConfig, 'plugins'> {
  const { plugin } = sessionService;
  const isThere = app?.plugins.includes(plugin) ?? false;
  return { plugins: isThere ? plugins : [plugin, ...plugins.filter((other) => other !== plugin)] };
}

/** The same service, except that its sessions of the lease's name carry the lease. */
function leased(sessions: StatepadSessionService, lease: Lease): StatepadSessionService {
  const getSession: StatepadSessionService['getSession'] = async (request) => {
    const session = await sessions.getSession(request);
    if (session !== undefined) {
      sessions.carry(session, lease);
    }
    return session;
  };
  return new Proxy(sessions, {
    get: (target, name) => {
      const member: unknown = name === 'getSession' ? getSession : Reflect.get(target, name, target);
      return typeof member === 'function' && name !== 'getSession' && name !== 'constructor'
        ? (member.bind(target) as unknown)
        : member;
    },
  });
}
