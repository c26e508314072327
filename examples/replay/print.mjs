/**
 * The output: aligned lines for a reader, one line of progress for long input.
 */
import { DELETED } from 'statepad/adk';

const WIDTH = Math.max(60, Math.min(process.stdout.columns ?? 100, 120));
const TTY = process.stdout.isTTY === true;
const COLOUR = TTY && !process.env.NO_COLOR;
const COLUMN = 10;
const SCOPE = /^(?:app|user|temp):/u;

/** @param {string} text */
const dim = (text) => (COLOUR ? `\u001b[2m${text}\u001b[22m` : text);
/** @param {string} text */
const bold = (text) => (COLOUR ? `\u001b[1m${text}\u001b[22m` : text);

/** Prints a line. @param {string} [line] */
export function print(line = '') {
  process.stdout.write(`${line}\n`);
}

/**
 * A watcher that prints every line as it happens. Agents without placeholders always get the same instructions: these
 * are only shown when `all` is asked for. An instruction or a write that repeats itself is not shown again.
 *
 * @param {{ all: boolean }} options
 * @returns {import('./play.mjs').Watcher}
 */
export function printer({ all }) {
  /** The values that were shown in this exchange, by name, and the role named last. */
  const shown = new Map();
  let last = '';
  /** @param {string} role @param {string} text */
  const line = (role, text) => {
    print(`  ${(role === last ? '' : role).padEnd(COLUMN)}${text}`);
    last = role;
  };
  /** @param {string} what @param {unknown} value */
  const again = (what, value) => (shown.has(what) && shown.get(what) === value) || !shown.set(what, value);
  return {
    begins({ id, user, turns, services }) {
      print(`${bold(id)}  ${dim(`user ${user}, ${turns.length} turns, ${services.join(', ')}`)}`);
      last = '';
      shown.clear();
    },
    userSaid(text) {
      last = '';
      shown.clear();
      for (const part of wrap(text)) line('user', bold(part));
    },
    agentSaid(role, text) {
      for (const part of wrap(text)) line(role, bold(part));
    },
    instructed(role, instruction) {
      if (again(role, instruction) || (!all && (role === 'clerk' || role === 'listener'))) return;
      last = '';
      for (const part of wrap(instruction, 2)) line(role, dim(`│ ${part}`));
    },
    wrote(role, key, value) {
      if (again(`${role} ${key}`, value)) return;
      const [prefix] = SCOPE.exec(key) ?? [''];
      const scope = (prefix.slice(0, -1) || 'session').padEnd(8);
      const name = key.slice(prefix.length).padEnd(15);
      const text = value === DELETED ? `${name} deleted` : `${name} = ${JSON.stringify(value)}`;
      line(role, `${dim(scope)} ${fit(text, WIDTH - COLUMN - 12)}`);
    },
  };
}

/** A watcher that says nothing. @type {import('./play.mjs').Watcher} */
export const silent = { begins() {}, userSaid() {}, agentSaid() {}, instructed() {}, wrote() {} };

/**
 * One line of progress: written over on a terminal, a line now and then elsewhere.
 *
 * @param {number} total
 */
export function progress(total) {
  const step = Math.max(1, Math.ceil(total / 8));
  return {
    /** @param {number} done @param {{ turns: number, events: number }} totals */
    at(done, { turns, events }) {
      const text = `${String(done).padStart(String(total).length)} of ${total} conversations, ${turns} turns, ${events} events`;
      if (TTY) process.stdout.write(`\r${text}${done === total ? '\n' : ''}`);
      else if (done % step === 0 || done === total) print(text);
    },
    /** Makes room for a line in between. */
    clear() {
      if (TTY) process.stdout.write('\r\u001b[K');
    },
  };
}

/**
 * Names a difference between the expected and the actual final state.
 *
 * @param {string} id
 * @param {import('./check.mjs').Mismatch} mismatch
 */
export function printMismatch(id, { key, expected, actual }) {
  print(`  ${id}: ${JSON.stringify(key)} wanted ${orNothing(expected)}, got ${orNothing(actual)}`);
}

/** @param {unknown} value */
function orNothing(value) {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

/** @param {string} text @param {number} width */
function fit(text, width) {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text;
}

/** Breaks a text at blanks so that it fits the window. @param {string} text @param {number} [less] */
function wrap(text, less = 0) {
  const width = WIDTH - COLUMN - 2 - less;
  return text.split('\n').flatMap((paragraph) => {
    const lines = [''];
    for (const word of paragraph.split(' ')) {
      const last = lines[lines.length - 1] ?? '';
      if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
      else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
    }
    return lines;
  });
}
