// ADK's plugin of a session service: it sees each call of a tool before ADK merges what the tools have written.

import { BasePlugin, type Context, type EventActions } from '@google/adk';

/** Told of each call of a tool: the session that it is in, its id, and the actions that it writes to. */
export type Called = (session: object, id: string, actions: EventActions) => void;

/**
 * Makes the operators of several tools count that a model calls in one answer: `StatepadSessionService.plugin`.
 *
 * ADK makes one event of the answers of such tools, and of two writes to one key the last one stands there. Of five
 * `increment()` that would be one. The plugin keeps what each of the tools has written until the event is appended.
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

  /** Notes the call. Answers nothing, so that ADK and other plugins go on. */
  override async beforeToolCallback({ toolContext }: { toolContext: Context }): Promise<undefined> {
    this.#note(toolContext);
  }

  /** Notes the call, also when a plugin has answered in the place of the tool. */
  override async afterToolCallback({ toolContext }: { toolContext: Context }): Promise<undefined> {
    this.#note(toolContext);
  }

  #note({ functionCallId, actions, invocationContext }: Context): void {
    if (functionCallId !== undefined) {
      this.#called(invocationContext.session, functionCallId, actions);
    }
  }
}
