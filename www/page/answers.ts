// Answers to typed messages, by a few rules: there is no model behind the page, and the answers say so.

import { DELETED, type Json, type Session, type SessionService } from 'statepad';

/** An example of a message that is understood. */
export const EXAMPLE = 'remember city = Porto';

const ABILITIES =
  'I can remember: try “my name is Kim”, “remember city = Porto”, “forget city” or “what do you know?”.';

/** An answer, and what it changes. */
interface Answer {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly reply: string;
}

type State = Readonly<Record<string, Json>>;

/** The rules, in their order: the first one that matches answers. */
const RULES: readonly (readonly [pattern: RegExp, answer: (match: RegExpExecArray, state: State) => Answer])[] = [
  [/^\s*remember\s+([^=]+?)\s*=\s*(.+?)\s*$/isu, ([, key = '', value = '']) => remembered(key, valueFrom(value))],
  [/^\s*forget\s+(\S.*?)[\s.!]*$/isu, ([, key = ''], state) => forgotten(key, state)],
  [/\bmy name is\s+(.+?)[\s.!]*$/isu, ([, name = '']) => remembered('user:name', name)],
  [/\bwhat\b.*\b(?:know|remember)\b/isu, (_, state) => said(knownIn(state))],
  [
    /^\s*(?:hi|hello|hey|hallo|hola|bonjour|ciao|good (?:morning|day|evening))\b/iu,
    (_, state) => said(greeting(state)),
  ],
  [/(?:)/u, () => said(`There is no model behind this page, so I cannot answer that. ${ABILITIES}`)],
];

/** Appends a message of the user, and the answer to it. Throws as `appendEvent`. */
export async function answer(service: SessionService, session: Session, text: string): Promise<void> {
  const invocationId = `typed-${crypto.randomUUID()}`;
  const { delta, reply } = answerTo(text, session.state);
  await service.appendEvent({
    session,
    event: { author: 'user', invocationId, content: { role: 'user', parts: [{ text }] } },
  });
  await service.appendEvent({
    session,
    event: {
      author: 'script',
      invocationId,
      content: { role: 'model', parts: [{ text: reply }] },
      actions: { stateDelta: delta },
    },
  });
}

function answerTo(text: string, state: State): Answer {
  for (const [pattern, reply] of RULES) {
    const match = pattern.exec(text);
    if (match !== null) {
      return reply(match, state);
    }
  }
  return said(ABILITIES);
}

function said(reply: string): Answer {
  return { delta: {}, reply };
}

function greeting(state: State): string {
  const name = Object.hasOwn(state, 'user:name') ? state['user:name'] : undefined;
  const whom = typeof name === 'string' ? `, ${name}` : '';
  return `Hello${whom}! I am a short script; there is no model behind this page. ${ABILITIES}`;
}

function remembered(key: string, value: Json): Answer {
  return {
    delta: Object.fromEntries([[key, value]]),
    reply: `I remember \`${key}\` = \`${JSON.stringify(value)}\`, ${reachOf(key)}.`,
  };
}

function forgotten(key: string, state: State): Answer {
  return Object.hasOwn(state, key)
    ? { delta: Object.fromEntries([[key, DELETED]]), reply: `I have forgotten \`${key}\`.` }
    : said(`There is no \`${key}\` that I could forget.`);
}

function knownIn(state: State): string {
  const lines = Object.entries(state).map(([key, value]) => `- \`${key}\` = \`${JSON.stringify(value)}\``);
  return lines.length === 0 ? 'Nothing yet.' : `This is the state of the session:\n\n${lines.join('\n')}`;
}

const REACHES: ReadonlyMap<string, string> = new Map([
  ['app', 'for everybody in this app'],
  ['user', 'in all of your sessions'],
  ['temp', 'until the end of this turn: `temp:` keys are not stored'],
]);

function reachOf(key: string): string {
  return REACHES.get(/^(app|user|temp):/u.exec(key)?.[1] ?? '') ?? 'in this session';
}

function valueFrom(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
