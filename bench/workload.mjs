/**
 * The measured workload, the same for every side: an event of 500 characters with a delta of three keys, a state of 30
 * keys, and a template of 2,000 characters with ten placeholders.
 */

const WORDS = 'the tide comes in twice a day because the moon pulls at the sea and the earth turns under it ';

/** A text of so many characters. */
const prose = (length) => WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length);

/** Thirty keys: 20 of the session, 5 of the user, 5 of the app. Texts, numbers, a flag, a list and an object. */
export const STATE = Object.fromEntries([
  ...Array.from({ length: 14 }, (_, index) => [`note_${index}`, prose(20 + index)]),
  ['topic', 'tides'],
  ['visits', 12],
  ['done', false],
  ['score', 0.75],
  ['steps', ['greet', 'ask', 'explain']],
  ['profile', { city: 'Lyon', languages: ['fr', 'en'] }],
  ['user:name', 'Ana'],
  ['user:level', 3],
  ['user:tone', 'friendly'],
  ['user:seen', ['moon', 'sea']],
  ['user:last', 'a question about spring tides'],
  ['app:motto', 'short answers, clear words'],
  ['app:limit', 200],
  ['app:model', 'scripted'],
  ['app:flags', { beta: true }],
  ['app:served', 0],
]);

/** The three keys that every event writes: one of the session, one of the user, one of the app. */
const delta = (number) => ({ topic: `tides, part ${number}`, 'user:level': number % 10, 'app:served': number });

/**
 * An event as it comes from a socket or a model's client: parsed, so that no text in it is a slice or a rope. The
 * first one writes the whole state.
 */
export function makeEvent(number) {
  const author = number % 2 === 0 ? 'user' : 'tutor';
  return JSON.parse(
    JSON.stringify({
      id: `event-${number}`,
      invocationId: `turn-${number >> 1}`,
      author,
      timestamp: 1_700_000_000_000 + number,
      content: {
        role: number % 2 === 0 ? 'user' : 'model',
        parts: [{ text: `${number} ${prose(500)}`.slice(0, 500) }],
      },
      actions: {
        stateDelta: number === 0 ? STATE : delta(number),
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      },
    }),
  );
}

/** Creates a session and appends `length` events through its handle. */
export async function fill(service, key, length) {
  const session = await service.createSession(key);
  for (let number = 0; number < length; number += 1) {
    await service.appendEvent({ session, event: makeEvent(number) });
  }
  return session;
}

const PLACEHOLDERS = [
  'topic',
  'visits',
  'score',
  'profile',
  'user:name',
  'user:tone',
  'user:seen',
  'app:motto',
  'app:limit',
  'missing?',
];

/** Ten placeholders between texts of the same length. */
export const TEMPLATE = PLACEHOLDERS.map((content) => {
  const end = `{${content}}`;
  return prose(200 - end.length) + end;
}).join('');

/** A state as text that does not depend on the order of its keys. */
export function stateText(state) {
  return JSON.stringify(
    Object.keys(state)
      .sort()
      .map((key) => [key, state[key]]),
  );
}

/** Reads what an agent reads: the text of each event. Answers how many characters there are. */
export function readEvents(session) {
  let characters = 0;
  for (const event of session.events) {
    characters += event.content.parts[0].text.length;
  }
  return characters;
}

/** Reads every value of a session's state. Answers how many there are. */
export function readState(session) {
  let values = 0;
  const { state } = session;
  for (const key of Object.keys(state)) {
    if (state[key] !== undefined) values += 1;
  }
  return values;
}
