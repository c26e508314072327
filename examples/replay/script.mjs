/**
 * The script: what each agent says in one exchange, a user's turn and the replies to it.
 */

/**
 * @typedef {import('./read.mjs').Turn} Turn
 * @typedef {import('./model.mjs').Saying} Saying
 * @typedef {{ user: Turn, replies: Turn[] }} Exchange
 */

/**
 * Cuts a conversation into exchanges. The agent's words before the first user are its greeting.
 *
 * @param {readonly Turn[]} turns
 */
export function cut(turns) {
  /** @type {Turn[]} */
  const greeting = [];
  /** @type {Exchange[]} */
  const exchanges = [];
  for (const turn of turns) {
    if (turn.author === 'user') exchanges.push({ user: turn, replies: [] });
    else (exchanges.at(-1)?.replies ?? greeting).push(turn);
  }
  return { greeting, exchanges };
}

/** Hands out the lines of one exchange, step by step. */
export class Script {
  /** @type {{ clerk: Saying[][], agent: Saying[][] }} */
  #steps = { clerk: [], agent: [] };
  #user = '';

  /** @param {Exchange} exchange */
  begin({ user, replies }) {
    const { note, keys } = noteOf(user);
    this.#user = user.text;
    this.#steps.clerk = [...(note ? [[note]] : []), [{ text: keys.join(', ') || 'nothing new' }]];
    this.#steps.agent = stepsOf(replies);
  }

  /**
   * @param {import('./desk.mjs').Role} role
   * @param {string} instruction the instruction of the model
   * @returns {Saying[]}
   */
  next(role, instruction) {
    if (role === 'listener') return [{ text: toneOf(this.#user) }];
    if (role === 'planner') return [{ text: planFrom(instruction) }];
    return this.#steps[role].shift() ?? [];
  }
}

/**
 * The changes of a turn, as a call of the tool. `temp:` keys of a user's turn come with the message instead.
 *
 * @param {Turn} turn
 */
function noteOf(turn) {
  const travels = turn.author === 'user' ? (/** @type {string} */ key) => key.startsWith('temp:') : () => false;
  const set = Object.fromEntries(Object.entries(turn.delta).filter(([key]) => !travels(key)));
  const keys = [...Object.keys(set), ...turn.deleted];
  return { keys, note: keys.length > 0 ? { set, remove: turn.deleted } : undefined };
}

/**
 * The replies as model steps: a step ends with a tool call, because the model goes on when it has the tool's answer.
 *
 * @param {readonly Turn[]} replies
 */
function stepsOf(replies) {
  /** @type {Saying[][]} */
  const steps = [[]];
  for (const turn of replies) {
    const { note } = noteOf(turn);
    if (note) {
      steps.at(-1)?.push(note);
      steps.push([]);
    }
    steps.at(-1)?.push({ text: turn.text });
  }
  return steps;
}

/** @param {string} text */
function toneOf(text) {
  if (/[?？]/u.test(text)) return 'asks a question';
  return /\b(thanks|thank you|gracias)\b/iu.test(text) ? 'says thank you' : 'makes a statement';
}

/** The planner knows nothing but its instruction: what it says shows what it was told. @param {string} instruction */
function planFrom(instruction) {
  const [, tone = '', noted = ''] = /^The customer (.*)\. Noted: (.*)\. What/su.exec(instruction) ?? [];
  const duty = tone.startsWith('asks') ? 'answer the question' : tone.startsWith('says') ? 'say goodbye' : 'reply';
  return noted === 'nothing new' ? `${duty}.` : `${duty}; changed: ${noted}.`;
}
