/// <reference lib="esnext.disposable" preserve="true" />
// Contexts: the state that the agents, tools and callbacks of one invocation read and write.

import { admitDelta } from '../input/admit.js';
import { isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { put } from '../model/json.js';
import { PendingWrites, admittedWrites, type SentWrites } from './pending-writes.js';
import { warn } from '../model/warnings.js';
import { checkObject, admitString } from '../checks/arguments.js';
import { isTemp } from '../model/scope.js';
import { State, type ReadonlyState } from './state.js';
import { Template } from '../template/template.js';
import { compiledTemplate } from '../template/cache.js';
import { isThenable } from '../async/thenable.js';
import type { ContextContribution } from '../input/event-draft.js';
import { OperatorWrite } from '../model/operator-write.js';
import type { Operator } from '../model/operators.js';
import type { RenderOptions } from '../template/render.js';
import type { Event, EventInit, Json, Session } from '../model/types.js';

/** Options of `service.invocation()`. */
export interface InvocationOptions {
  /** Generated when absent. */
  readonly invocationId?: string | undefined;
  /** The author of the context's events; `user` by default. */
  readonly author?: string | undefined;
}

/** A function that returns a text, which is used unchanged in the place of a template. */
export type InstructionProvider<T extends string | PromiseLike<string> = string | PromiseLike<string>> = (
  context: ReadonlyContext,
) => T;

/** @internal The functions of the service that an invocation calls. */
export interface InvocationHost {
  readonly session: Session;
  /** `shown` is called at the moment when the handle shows the event. */
  readonly append: (event: EventInit, context: ContextContribution, shown: () => void) => Promise<Event>;
  /** The stored event of an id, read from the store. */
  readonly find: (id: string) => Promise<Event | undefined>;
  readonly dropTemp: () => void;
}

/** The data that the contexts of one invocation share. */
interface Shared {
  readonly host: InvocationHost;
  readonly invocationId: string;
  readonly pending: PendingWrites;
  /** Settles when the last event is being appended; absent when all are. */
  appending: Promise<unknown> | undefined;
  ended: boolean;
}

/** A read-only context. */
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

  /** The state, with the pending writes of the invocation. Throws `INVOCATION_ENDED`. */
  get state(): ReadonlyState {
    requireOpen(this.#shared);
    return this.#state;
  }

  /**
   * Renders a template with the state, or calls a function for the text. Throws `TEMPLATE_KEY_MISSING`,
   * `ARTIFACT_MISSING`, `INVALID_ARGUMENT`, `INVOCATION_ENDED`.
   */
  render(template: string | Template, options?: Omit<RenderOptions, 'state'>): string;
  render<T extends string | PromiseLike<string>>(provider: InstructionProvider<T>): T;
  render(
    template: string | Template | InstructionProvider,
    options: Omit<RenderOptions, 'state'> = {},
  ): string | PromiseLike<string> {
    const { state } = this;
    if (typeof template === 'function') {
      const text: unknown = template(this);
      return isThenable(text) ? (text as PromiseLike<string>) : admitText(text);
    }
    checkObject(options, 'options');
    return asTemplate(template).render({ ...options, state: state.toRecord() });
  }
}

/**
 * ADK's InvocationContext, CallbackContext and ToolContext in one. Reads see the pending writes of the whole
 * invocation; a context's own writes go into the next event that it appends. Of two writes to one key the later one
 * wins, in any order of appending.
 */
export class InvocationContext {
  readonly #shared: Shared;
  readonly #state: State;
  /** The author of this context's events. */
  readonly author: string;
  /** The same invocation, read-only. */
  readonly readonly: ReadonlyContext;
  /**
   * For `using`: ends the invocation and never throws, because that would hide an error in flight. Writes that were
   * never appended are discarded, and a process warning names their keys.
   */
  declare readonly [Symbol.dispose]: () => void;

  /** @internal */
  constructor(from: InvocationHost | InvocationContext, options: InvocationOptions) {
    const { invocationId, author = 'user' } = options;
    this.author = admitString(author, 'author');
    this.#shared =
      from instanceof InvocationContext
        ? from.#shared
        : {
            host: from,
            invocationId: admitString(invocationId ?? `e-${newId()}`, 'invocationId'),
            pending: new PendingWrites(),
            appending: undefined,
            ended: false,
          };
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

  /** The state, with the pending writes of the invocation. Throws `INVOCATION_ENDED`. */
  get state(): State {
    requireOpen(this.#shared);
    return this.#state;
  }

  /** A context of the same invocation for another author: a sub-agent, a tool, a branch. Throws `INVOCATION_ENDED`. */
  child(author: string): InvocationContext {
    requireOpen(this.#shared);
    return new InvocationContext(this, { author: admitString(author, 'author') });
  }

  /**
   * Appends an event with this context's pending writes; keys in its own `stateDelta` override them. If that fails,
   * the writes are pending again, each in its old place in the order, and only the keys of the event's own
   * `stateDelta` are taken back. An event that is appended again under its id carries the same writes. Throws as
   * `appendEvent`, and `INVOCATION_ENDED`.
   */
  async append(event: EventInit = {}): Promise<Event> {
    requireOpen(this.#shared);
    checkObject(event, 'event');
    if (event.partial) {
      return event as Event;
    }
    const { pending, host, invocationId } = this.#shared;
    const { id, actions } = event;
    if (actions !== undefined) {
      checkObject(actions, 'actions');
    }
    const sentWrites = pending.send(
      this,
      id === '' ? undefined : id,
      admitDelta(actions?.stateDelta, 'actions.stateDelta'),
    );
    // A write that is both stored and pending would count twice.
    const shown = (): void => pending.stored(sentWrites);
    const send = (delta: SentWrites['delta']): Promise<Event> =>
      host.append(event, { author: this.author, invocationId, writes: admittedWrites(delta) }, shown);
    try {
      return await inOrder(this.#shared, sentWrites, send);
    } catch (error) {
      pending.failed(sentWrites);
      throw error;
    }
  }

  /** Renders a template, as {@link ReadonlyContext.render}. */
  render(template: string | Template, options?: Omit<RenderOptions, 'state'>): string {
    return this.readonly.render(template, options);
  }

  /**
   * Drops this context's pending writes on purpose. Earlier writes of other contexts to their keys are pending again.
   */
  discard(): void {
    this.#shared.pending.discard(this);
  }

  /**
   * Ends the invocation, for all its contexts: `temp:` keys are deleted, and further use throws `INVOCATION_ENDED`.
   * Ending it again does nothing.
   *
   * Throws `INVALID_ARGUMENT` when writes were never appended and would be lost, unless `discard` is true; the
   * invocation then goes on.
   */
  end(options: { readonly discard?: boolean } = {}): void {
    checkObject(options, 'options');
    const shared = this.#shared;
    // None after the end: pending writes were dropped then.
    const keys = shared.pending.keys();
    const [key] = keys;
    if (key !== undefined && options.discard !== true) {
      const message = `writes were never appended: ${namesOf(keys)}; append or discard them`;
      throw new StatepadError('INVALID_ARGUMENT', message, { key });
    }
    finish(shared);
  }

  static {
    // Hosts without `Symbol.dispose` have no `using` either, but their transpilers look for this symbol.
    const dispose = (Symbol as { dispose?: symbol }).dispose ?? Symbol.for('Symbol.dispose');
    Object.defineProperty(this.prototype, dispose, {
      value(this: InvocationContext) {
        const keys = finish(this.#shared);
        if (keys.length > 0) {
          warn('STATEPAD_WRITES_DISCARDED', `writes were never appended, and are discarded: ${namesOf(keys)}`);
        }
      },
    });
  }
}

/** Ends an invocation. Answers the keys that no event has carried. */
function finish(shared: Shared): readonly string[] {
  if (shared.ended) {
    return [];
  }
  shared.ended = true;
  shared.host.dropTemp();
  return shared.pending.discardAll();
}

function namesOf(keys: readonly string[]): string {
  return keys.map((key) => JSON.stringify(key)).join(', ');
}

/** Appends events in the order of the calls, even when the delta of one has to be looked up first. */
async function inOrder(
  shared: Shared,
  sentWrites: SentWrites,
  send: (delta: SentWrites['delta']) => Promise<Event>,
): Promise<Event> {
  if (shared.appending === undefined && sentWrites.before === undefined) {
    return await send(sentWrites.delta);
  }
  const sending = Promise.resolve(shared.appending).then(async () => ({
    appended: send(await deltaOf(sentWrites, shared.host)),
  }));
  const settled = sending.catch(() => undefined);
  shared.appending = settled;
  try {
    return await (
      await sending
    ).appended;
  } finally {
    if (shared.appending === settled) {
      shared.appending = undefined;
    }
  }
}

/**
 * The delta of an event. An event that is appended again after a failure, while others have stored later writes to its
 * keys, keeps its original delta if it is stored after all.
 */
async function deltaOf({ delta, before, id = '' }: SentWrites, host: InvocationHost): Promise<SentWrites['delta']> {
  if (before === undefined) {
    return delta;
  }
  const stored = (await host.find(id))?.actions.stateDelta;
  // Another attempt may have stored it without the overtaken keys.
  const isStored =
    stored !== undefined && Object.keys(before).every((key) => isTemp(key) || Object.hasOwn(stored, key));
  return isStored ? before : delta;
}

function asTemplate(template: unknown): Template {
  if (typeof template === 'string') {
    return compiledTemplate(template);
  }
  // A template of another copy of the package counts, too.
  if (typeof (template as Partial<Template> | null | undefined)?.renderAsync === 'function') {
    return template as Template;
  }
  throw new StatepadError('INVALID_ARGUMENT', 'template must be a text, a Template or a function', {
    path: 'template',
  });
}

/** Checks the text that a function returns in the place of a template. */
function admitText(text: unknown): string {
  if (typeof text !== 'string') {
    throw new StatepadError('INVALID_ARGUMENT', 'the function must return a text', { path: 'template' });
  }
  return text;
}

/** A state without methods that write. */
class ReadonlyView implements ReadonlyState {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** The interface types the answer. */
  get(key: string, defaultValue?: unknown): never {
    return this.#state.get(key, defaultValue) as never;
  }

  has(key: string): boolean {
    return this.#state.has(key);
  }

  toRecord(): Readonly<Record<string, Json>> {
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
    return this.#shared.pending.has(this.#owner);
  }

  /** Committed and pending values are frozen already: only the record is new. */
  override toRecord(): Readonly<Record<string, Json>> {
    requireOpen(this.#shared);
    const { state } = this.#shared.host.session;
    const keys = this.keys();
    if (keys.length === 0) {
      return state;
    }
    const record = { ...state };
    for (const key of keys) {
      const value = this.pending(key);
      if (isDeleted(value)) {
        delete record[key];
      } else if (value !== undefined) {
        put(record, key, value as Json);
      }
    }
    return Object.freeze(record);
  }

  protected override committed(): Readonly<Record<string, unknown>> {
    requireOpen(this.#shared);
    return this.#shared.host.session.state;
  }

  protected override pending(key: string): unknown {
    requireOpen(this.#shared);
    return this.#shared.pending.get(key, () => this.stored(key));
  }

  protected override over(key: string, operator: Operator): unknown {
    return this.#shared.pending.over(key, new OperatorWrite(operator));
  }

  protected override keys(): readonly string[] {
    return this.#shared.pending.keys();
  }

  protected override write(key: string, value: unknown): void {
    requireOpen(this.#shared);
    this.#shared.pending.write(this.#owner, key, value);
  }

  protected override frozen(value: unknown): unknown {
    return value;
  }
}

function requireOpen({ ended, invocationId }: Shared): void {
  if (ended) {
    throw new StatepadError('INVOCATION_ENDED', `the invocation "${invocationId}" has ended`, { id: invocationId });
  }
}
