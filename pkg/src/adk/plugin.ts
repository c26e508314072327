// ADK's plugin of a session service: it sees each call of a tool before ADK merges the tools' deltas.

import { BasePlugin, type Context, type EventActions } from '@google/adk';

/** Receives each call of a tool: the session that it is in, its id, and the actions that it writes to. */
export type Called = (session: object, id: string, actions: EventActions) => void;

/**
 * Makes all operators count when a model calls several tools in one answer: `StatepadSessionService.plugin`.
 *
 * ADK merges the answers of such tools into one event, and of two writes to one key the last one wins. Five
 * `increment()` would count as one. The plugin keeps the writes of each tool until the event is appended.
 *
 * @example
 * const runner = new Runner({ appName, agent, sessionService, plugins: [sessionService.plugin] });
 */
export class StatepadPlugin extends BasePlugin {
  readonly #called: Called;

  /** @internal */
  constructor(called: Called) {
    super('statepad');
    this.#called = called;
  }

  /** Records the call. Answers nothing, so that ADK and other plugins continue. */
  override async beforeToolCallback({ toolContext }: { toolContext: Context }): Promise<undefined> {
    this.#note(toolContext);
  }

  /** Records the call, even if a plugin has answered in the place of the tool. */
  override async afterToolCallback({ toolContext }: { toolContext: Context }): Promise<undefined> {
    this.#note(toolContext);
  }

  #note({ functionCallId, actions, invocationContext }: Context): void {
    if (functionCallId !== undefined) {
      this.#called(invocationContext.session, functionCallId, actions);
    }
  }
}
