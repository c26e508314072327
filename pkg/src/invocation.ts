/// <reference lib="esnext.disposable" preserve="true" />
// Contexts: what the agents, tools and callbacks of one invocation read and write.

import { admitDelta } from './admit.js';
import { DELETED, isDeleted } from './deleted.js';
import { StatepadError } from './errors.js';
import { newId } from './ids.js';
import { State, type ReadonlyState } from './state.js';
import { Template } from './template.js';
import type { RenderOptions } from './render.js';
import type { Event, EventInit, Json, Session } from './types.js';

/** Options of `service.invocation()`. */
export interface InvocationOptions {
  /** Generated when absent. */
  readonly invocationId?: string | undefined;
  /** Who writes through the context; `user` unless told otherwise. */
  readonly author?: string | undefined;
}

/** A function whose text is used as it is, in the place of a template. */
export type InstructionProvider<T extends string | Promise<string> = string | Promise<string>> = (
  context: ReadonlyContext,
) => T;

/** @internal What an invocation needs of its service. */
export interface InvocationHost {
  readonly session: Session;
  readonly append: (event: EventInit) => Promise<Event>;
  readonly dropTemp: () => void;
}

/** A write that no event has carried to the service yet. */
interface Write {
  readonly value: unknown;
  readonly owner: InvocationContext;
  /** An event that carries it is on its way. */
  sent: boolean;
}

/** What the contexts of one invocation share. */
interface Shared {
  readonly host: InvocationHost;
  readonly invocationId: string;
  readonly writes: Map<string, Write>;
  ended: boolean;
}

/** A context that reads and cannot write. */
export class ReadonlyContext {
  readonly #shared: Shared;
  readonly #state: ReadonlyState;

  /** @internal */
  constructor(shared: Shared, state: ReadonlyState) {
    this.#shared = shared;
    this.#state = state;
  }

  /** The id that all events of the invocation share. */
  get invocationId(): string {
    return this.#shared.invocationId;
  }

  /** The session. */
  get session(): Session {
    return this.#shared.host.session;
  }

  /** The state with the writes that are pending in the invocation. Throws `INVOCATION_ENDED`. */
  get state(): ReadonlyState {
    requireOpen(this.#shared);
    return this.#state;
  }

  /**
   * Renders a template with the state, or calls a function for the text. Throws `TEMPLATE_KEY_MISSING`,
   * `ARTIFACT_MISSING`, `INVOCATION_ENDED`.
   */
  render(template: string | Template, options?: Omit<RenderOptions, 'state'>): string;
  render<T extends string | Promise<string>>(provider: InstructionProvider<T>): T;
  render(template: string | Template | InstructionProvider, options: Omit<RenderOptions, 'state'> = {}): string | Promise<string> {
    const { state } = this;
    if (typeof template === 'function') {
      return template(this);
    }
    const compiled = typeof template === 'string' ? new Template(template) : template;
    return compiled.render({ ...options, state: state.toRecord() });
  }
}

/**
 * What ADK calls InvocationContext, CallbackContext and ToolContext. Reads see the pending writes of the whole
 * invocation; a context's own writes go into the next event that it appends. Of two writes to one key the one made later
 * wins, whatever order the events are appended in.
 */
export class InvocationContext {
  readonly #shared: Shared;
  readonly #state: State;
  /** Who writes through this context. */
  readonly author: string;
  /** The same invocation, to be read only. */
  readonly readonly: ReadonlyContext;
  /** {@link InvocationContext.end}, for `using`. */
  declare readonly [Symbol.dispose]: () => void;

  /** @internal */
  constructor(from: InvocationHost | InvocationContext, { invocationId, author = 'user' }: InvocationOptions) {
    this.#shared =
      from instanceof InvocationContext
        ? from.#shared
        : { host: from, invocationId: invocationId ?? `e-${newId()}`, writes: new Map(), ended: false };
    this.author = author;
    this.#state = new PendingState(this.#shared, this);
    this.readonly = new ReadonlyContext(this.#shared, new ReadonlyView(this.#state));
  }

  /** The id that all events of the invocation share. */
  get invocationId(): string {
    return this.#shared.invocationId;
  }

  /** The session. */
  get session(): Session {
    return this.#shared.host.session;
  }

  /** The state with the writes that are pending in the invocation. Throws `INVOCATION_ENDED`. */
  get state(): State {
    requireOpen(this.#shared);
    return this.#state;
  }

  /** A context of the same invocation for another author: a sub-agent, a tool, a branch. Throws `INVOCATION_ENDED`. */
  child(author: string): InvocationContext {
    requireOpen(this.#shared);
    return new InvocationContext(this, { author });
  }

  /**
   * Appends an event with this context's pending writes; keys in its own `stateDelta` come on top of them. When that
   * fails the writes are pending again. Throws as `appendEvent`, and `INVOCATION_ENDED`.
   */
  async append(event: EventInit = {}): Promise<Event> {
    requireOpen(this.#shared);
    if (event.partial) {
      return event as Event;
    }
    const { writes, host, invocationId } = this.#shared;
    const overtaken = this.#writeNow(event.actions?.stateDelta);
    const sent = [...writes].filter(([, write]) => write.owner === this && !write.sent);
    const stateDelta = Object.fromEntries(sent.map(([key, { value }]) => [key, value]));
    sent.forEach(([, write]) => (write.sent = true));
    try {
      const appended = await host.append({ author: this.author, ...event, invocationId, actions: { ...event.actions, stateDelta } });
      sent.filter(([key, write]) => writes.get(key) === write).forEach(([key]) => writes.delete(key));
      return appended;
    } catch (error) {
      sent.forEach(([, write]) => (write.sent = false));
      overtaken.forEach((restore) => restore());
      throw error;
    }
  }

  /** Writes what an event brings with it: later than all that is pending. Answers how to take each key back. */
  #writeNow(stateDelta: unknown): readonly (() => void)[] {
    const { writes } = this.#shared;
    const { delta, deleted } = admitDelta(stateDelta, 'actions.stateDelta');
    return Object.entries(delta).map(([key, value]) => {
      const before = writes.get(key);
      const write: Write = { value: deleted.includes(key) ? DELETED : value, owner: this, sent: false };
      writes.delete(key);
      writes.set(key, write);
      return () => {
        if (writes.get(key) === write) {
          writes.delete(key);
          if (before !== undefined) {
            writes.set(key, before);
          }
        }
      };
    });
  }

  /** Renders a template, as {@link ReadonlyContext.render}. */
  render(template: string | Template, options?: Omit<RenderOptions, 'state'>): string {
    return this.readonly.render(template, options);
  }

  /** Drops this context's pending writes on purpose. */
  discard(): void {
    const { writes } = this.#shared;
    [...writes].filter(([, write]) => write.owner === this && !write.sent).forEach(([key]) => writes.delete(key));
  }

  /**
   * Ends the invocation, for all its contexts: `temp:` keys are gone, and further use throws `INVOCATION_ENDED`. To end
   * it again does nothing.
   *
   * Throws `INVALID_ARGUMENT` when writes were never appended (they would be lost), unless `discard` is true; the
   * invocation goes on then.
   */
  end({ discard = false }: { readonly discard?: boolean } = {}): void {
    const shared = this.#shared;
    if (shared.ended) {
      return;
    }
    if (shared.writes.size > 0 && !discard) {
      const keys = [...shared.writes.keys()].map((key) => JSON.stringify(key)).join(', ');
      const [key] = shared.writes.keys();
      throw new StatepadError('INVALID_ARGUMENT', `writes were never appended: ${keys}; append or discard them`, { key: key as string });
    }
    shared.writes.clear();
    shared.ended = true;
    shared.host.dropTemp();
  }

  static {
    // Hosts that lack `Symbol.dispose` have no `using` either, but their transpilers look for this symbol.
    const dispose = (Symbol as { dispose?: symbol }).dispose ?? Symbol.for('Symbol.dispose');
    Object.defineProperty(this.prototype, dispose, {
      value(this: InvocationContext) {
        this.end();
      },
    });
  }
}

/** A state without the means to write it. */
class ReadonlyView implements ReadonlyState {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  get<T = Json>(key: string, defaultValue?: T): T | undefined {
    return this.#state.get(key, defaultValue);
  }

  has(key: string): boolean {
    return this.#state.has(key);
  }

  toRecord(): Record<string, Json> {
    return this.#state.toRecord();
  }
}

class PendingState extends State {
  readonly #shared: Shared;
  readonly #owner: InvocationContext;

  constructor(shared: Shared, owner: InvocationContext) {
    super();
    this.#shared = shared;
    this.#owner = owner;
  }

  override hasDelta(): boolean {
    return [...this.#shared.writes.values()].some((write) => write.owner === this.#owner && !write.sent);
  }

  protected override committed(): Readonly<Record<string, unknown>> {
    requireOpen(this.#shared);
    return this.#shared.host.session.state;
  }

  protected override pending(key: string): unknown {
    requireOpen(this.#shared);
    return this.#shared.writes.get(key)?.value;
  }

  protected override *entries(): Iterable<readonly [string, unknown]> {
    for (const [key, { value }] of this.#shared.writes) {
      yield [key, value];
    }
  }

  protected override write(key: string, value: unknown): void {
    requireOpen(this.#shared);
    const { writes } = this.#shared;
    // A key written again moves to the end: the order of writing is the order of the last writes.
    writes.delete(key);
    writes.set(key, { value: isDeleted(value) ? DELETED : value, owner: this.#owner, sent: false });
  }
}

function requireOpen({ ended, invocationId }: Shared): void {
  if (ended) {
    throw new StatepadError('INVOCATION_ENDED', `the invocation "${invocationId}" has ended`, { id: invocationId });
  }
}
