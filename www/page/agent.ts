// The agent of the page: it plays prepared conversations, and answers typed messages by a few rules. It uses only the
// public names of the package, as any agent would.

import { DELETED } from 'statepad';
import type { Content, Event, EventInit, InvocationContext, Json, Session, SessionService } from 'statepad';
import { isContinued, noteOfTemp } from '../inspector/model/log.js';
import { isSameSession } from '../inspector/model/session-name.js';
import lines from '../../examples/conversations.jsonl?raw';

/** One message, and its effect on the state. */
export interface Turn {
  readonly author: 'user' | 'agent';
  readonly text: string;
  readonly delta: Readonly<Record<string, Json>>;
  readonly deleted: readonly string[];
}

/** A conversation to be played. */
export interface Conversation {
  readonly id: string;
  /** The user of its session. */
  readonly user: string;
  /** The instruction template of the agent. */
  readonly instruction: string;
  readonly turns: readonly Turn[];
}

/** The instruction template of sessions without a conversation. */
export const INSTRUCTION = 'You talk to {user:name?} and count: {turns_typed?}.\nThe notice of the app: {app:notice?}';

/** Examples of all messages that the agent understands. */
export const UNDERSTOOD = [
  'my name is Ana',
  'remember city = Lisbon',
  'remember user:seat = {"car": 3}',
  'forget city',
] as const;

/** The conversations that come with the page. */
export const CONVERSATIONS: readonly Conversation[] = lines.trim().split('\n').map(conversationFrom);

/** A line of the file, where empty members are omitted. */
interface Line {
  readonly id: string;
  readonly user?: string;
  readonly instruction?: string;
  readonly turns: readonly (Pick<Turn, 'author' | 'text'> & Partial<Turn>)[];
}

function conversationFrom(line: string): Conversation {
  const { id, user = id, instruction = INSTRUCTION, turns } = JSON.parse(line) as Line;
  return { id, user, instruction, turns: turns.map((turn) => ({ delta: {}, deleted: [], ...turn })) };
}

/** The user and the id of a new session for a conversation. */
export function idsFor({ id, user }: Conversation): { readonly userId: string; readonly sessionId: string } {
  return { userId: user, sessionId: `${id}-${crypto.randomUUID().slice(0, 6)}` };
}

/** The user and the id of the session that the page begins with. */
export function first(): ReturnType<typeof idsFor> {
  const [conversation] = CONVERSATIONS;
  return conversation === undefined ? { userId: 'ana', sessionId: 'first' } : idsFor(conversation);
}

/** The progress of a conversation in the events of a log. */
interface Played {
  readonly events: readonly Event[];
  readonly conversation: unknown;
  readonly turns: number;
}

const nothingPlayed: Played = { events: [], conversation: undefined, turns: 0 };

/** Of the log that was examined last. A log only grows, so that only its new events are examined. */
let lastPlayed = nothingPlayed;

function playedIn(events: readonly Event[]): Played {
  const known = isContinued(lastPlayed.events, events) ? lastPlayed : nothingPlayed;
  const told = events
    .slice(known.events.length)
    .flatMap(({ customMetadata }) => (customMetadata === undefined ? [] : [customMetadata]));
  const conversation =
    known.conversation ?? told.find((metadata) => metadata['conversation'] !== undefined)?.['conversation'];
  lastPlayed = {
    events,
    conversation,
    turns: known.turns + told.filter((metadata) => metadata['turn'] !== undefined).length,
  };
  return lastPlayed;
}

/** The conversation of a session, by its events, or before the first one by its id. */
export function conversationOf({ id, userId, events }: Session): Conversation | undefined {
  const { conversation: named } = playedIn(events);
  return CONVERSATIONS.find((other) => {
    const isNamedAfter = id.startsWith(other.id) && /^-\w{6}$/u.test(id.slice(other.id.length));
    return named === undefined ? isNamedAfter && userId === other.user : named === other.id;
  });
}

/** The number of turns of its conversation that a session has in its log. */
export function turnsTaken({ events }: Session): number {
  return playedIn(events).turns;
}

/**
 * Plays conversations and answers messages. One invocation lasts from a message of the user to the last answer to it.
 */
export class Agent {
  readonly #service: SessionService;
  readonly #appended: (session: Session) => Promise<void>;
  /** The last invocation: it may get more answers, which see its `temp:` keys. */
  #running: InvocationContext | undefined;

  /**
   * `appended` is called for each event, with the handle through which it was appended: only that one has the `temp:`
   * keys.
   */
  constructor(service: SessionService, appended: (session: Session) => Promise<void>) {
    this.#service = service;
    this.#appended = appended;
  }

  /**
   * Plays the next turn of a conversation, if there is one. The log alone determines it, so that the conversation
   * continues after a reload and in another tab. A turn's event has an id of its own: playing it twice makes one
   * event. Throws as `appendEvent`.
   */
  async step(session: Session, conversation: Conversation): Promise<void> {
    const { id, turns } = conversation;
    const place = turnsTaken(session);
    const turn = turns[place];
    if (turn === undefined) {
      return;
    }
    const asked = turns.findLastIndex(({ author }, index) => author === 'user' && index <= place);
    const context = this.#enter(session, asked === -1 ? `${id}-greeting` : `${id}-${asked + 1}`);
    const question = turns[asked];
    // A reload has deleted the plan with all `temp:` keys, so it is made again.
    if (turn.author === 'agent' && question !== undefined && !context.state.has('temp:plan')) {
      const plan = planFor(question);
      await this.#append(context.child('planner'), { 'temp:plan': plan }, { content: said('model', plan) });
    }
    const deleted = Object.fromEntries(turn.deleted.map((key) => [key, DELETED]));
    await this.#append(
      context.child(turn.author),
      { ...turn.delta, ...deleted },
      {
        id: `${id}-turn-${place + 1}`,
        content: said(turn.author === 'user' ? 'user' : 'model', turn.text),
        customMetadata: { conversation: id, turn: place + 1 },
      },
    );
  }

  /**
   * Appends a typed message, and an answer to it. `heard` is called when the message is stored. Throws as
   * `appendEvent`, and `VALUE_NOT_JSON` before anything is appended.
   */
  async answer(session: Session, typed: string, heard: () => void): Promise<void> {
    const context = this.#service.invocation(session);
    const agent = context.child('agent');
    try {
      const { delta, reply } = understand(typed, context);
      // Before the message: values that are no JSON are refused here.
      agent.state.update(delta);
      await context.append({ content: said('user', typed) });
      this.#running = context;
      await this.#appended(context.session);
      heard();
      await this.#append(
        agent,
        {},
        {
          content: said('model', reply),
          customMetadata: { understood: Object.keys(delta), ...noteOfTemp(Object.keys(delta)) },
        },
      );
    } catch (error) {
      agent.discard();
      throw error;
    }
  }

  /** Leaves the last invocation, for another session. */
  leave(): void {
    this.#running = undefined;
  }

  /** The invocation of that name, if it runs already; or else a new one. The one before ends when the user speaks. */
  #enter(session: Session, invocationId: string): InvocationContext {
    const running = this.#running;
    const isSame =
      running !== undefined && isSameSession(running.session, session) && running.invocationId === invocationId;
    return isSame ? running : (this.#running = this.#service.invocation(session, { invocationId }));
  }

  async #append(
    context: InvocationContext,
    delta: Readonly<Record<string, unknown>>,
    event: EventInit,
  ): Promise<void> {
    try {
      context.state.update(delta);
      const { customMetadata, ...members } = event;
      const metadata = { ...customMetadata, ...noteOfTemp(Object.keys(delta)) };
      await context.append(Object.keys(metadata).length === 0 ? event : { ...members, customMetadata: metadata });
    } catch (error) {
      // They are written again when the turn is repeated.
      context.discard();
      throw error;
    }
    await this.#appended(context.session);
  }
}

function said(role: 'user' | 'model', text: string): Content {
  return { role, parts: [{ text }] };
}

function planFor({ text, delta, deleted }: Turn): string {
  const duty = /[?？]/u.test(text)
    ? 'answer the question'
    : /\b(?:thanks|thank you|gracias)\b/iu.test(text)
      ? 'say goodbye'
      : 'reply';
  const keys = [...Object.keys(delta).filter((key) => !key.startsWith('temp:')), ...deleted];
  return keys.length === 0 ? duty : `${duty}; changed: ${keys.join(', ')}`;
}

interface Understanding {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly reply: string;
}

/** The rules. */
function understand(typed: string, { state, session }: InvocationContext): Understanding {
  const [, name] = /\bmy name is\s+(.+?)[\s.!]*$/isu.exec(typed) ?? [];
  const [, key, text] = /^\s*remember\s+([^=]*?)\s*=\s*(.*?)\s*$/isu.exec(typed) ?? [];
  const [, forgotten] = /^\s*forget\s+(.+?)\s*$/isu.exec(typed) ?? [];
  if (key !== undefined && text !== undefined) {
    return remember(key, valueFrom(text));
  }
  if (forgotten !== undefined) {
    return state.has(forgotten)
      ? { delta: Object.fromEntries([[forgotten, DELETED]]), reply: `I have forgotten ${forgotten}.` }
      : { delta: {}, reply: `There is no ${forgotten} that I could forget.` };
  }
  if (name !== undefined) {
    return remember('user:name', name);
  }
  const before = state.get('turns_typed');
  const count = (typeof before === 'number' ? before : 0) + 1;
  const known = understoodIn(session.events).filter((key) => state.has(key));
  const list = known.map((key) => `${key} = ${JSON.stringify(state.get(key))}`).join(', ');
  return {
    delta: { turns_typed: count },
    reply: `I only count that: ${count} so far. What I have understood: ${list || 'nothing yet'}.`,
  };
}

function remember(key: string, value: Json): Understanding {
  return {
    delta: Object.fromEntries([[key, value]]),
    reply: `I remember ${key} = ${JSON.stringify(value)}, ${reachOf(key)}.`,
  };
}

function reachOf(key: string): string {
  const reaches = { app: 'for everybody in this app', user: 'in all your sessions', temp: 'until you speak again' };
  const prefix = /^(app|user|temp):/u.exec(key)?.[1] as keyof typeof reaches | undefined;
  return prefix === undefined ? 'in this session' : reaches[prefix];
}

function valueFrom(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The keys that the agent has understood so far, each once, except those of a single message. */
function understoodIn(events: readonly Event[]): string[] {
  const keys = events.flatMap(({ customMetadata }): unknown => customMetadata?.['understood'] ?? []);
  const isKept = (key: unknown): boolean =>
    typeof key === 'string' && key !== 'turns_typed' && !key.startsWith('temp:');
  return [...new Set(keys)].filter(isKept) as string[];
}
