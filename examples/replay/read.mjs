/**
 * The input: one conversation per line, as JSON. A line that is no conversation says why.
 */
import { OWN_KEYS } from './desk.mjs';

/**
 * @typedef {{ author: 'user' | 'agent', text: string, delta: Record<string, unknown>, deleted: string[] }} Turn
 * @typedef {{ id: string, user: string, services: string[], turns: Turn[], final: Record<string, unknown>,
 *   instruction?: string }} Conversation
 * @typedef {{ line: number, wrong: string }} BrokenLine
 */

/**
 * Reads every line of a file's text; empty lines are passed over.
 *
 * @param {string} text
 * @returns {{ conversations: Conversation[], broken: BrokenLine[] }}
 */
export function readConversations(text) {
  /** @type {Conversation[]} */
  const conversations = [];
  /** @type {BrokenLine[]} */
  const broken = [];
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const [index, source] of text
    .replace(/^\uFEFF/u, '')
    .split(/\r?\n/u)
    .entries()) {
    const line = index + 1;
    if (source.trim() === '') continue;
    try {
      const conversation = conversationOf(parse(source));
      const before = seen.get(conversation.id);
      if (before !== undefined) throw new Wrong(`the id ${show(conversation.id)} was in line ${before} already`);
      seen.set(conversation.id, line);
      conversations.push(conversation);
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      broken.push({ line, wrong: error.message });
    }
  }
  return { conversations, broken };
}

/** The fault of a line. */
class Wrong extends Error {}

/** @param {string} source */
function parse(source) {
  try {
    return /** @type {unknown} */ (JSON.parse(source));
  } catch (error) {
    throw new Wrong(`no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** @param {unknown} value @returns {Conversation} */
function conversationOf(value) {
  const it = record(value, 'the line');
  const id = nonEmpty(it.id, 'id');
  const turns = list(it.turns, 'turns').map((turn, i) => turnOf(turn, `turns[${i}]`));
  const final = record(it.final, 'final');
  for (const key of Object.keys(final)) {
    if (key.startsWith('temp:')) throw new Wrong(`final has ${show(key)}, and no state keeps temp: keys`);
    usable(key, 'final');
  }
  return {
    id,
    user: it.user === undefined ? id : nonEmpty(it.user, 'user'),
    services: list(it.services, 'services').map((name, i) => string(name, `services[${i}]`)),
    turns,
    final,
    ...(it.instruction === undefined ? {} : { instruction: string(it.instruction, 'instruction') }),
  };
}

/** @param {unknown} value @param {string} where @returns {Turn} */
function turnOf(value, where) {
  const it = record(value, where);
  const { author } = it;
  if (author !== 'user' && author !== 'agent') {
    throw new Wrong(`${where}.author must be "user" or "agent", not ${show(author)}`);
  }
  const delta = it.delta === undefined ? {} : record(it.delta, `${where}.delta`);
  const deleted = it.deleted === undefined ? [] : list(it.deleted, `${where}.deleted`);
  for (const key of Object.keys(delta)) usable(key, `${where}.delta`);
  const keys = deleted.map((key, i) => usable(string(key, `${where}.deleted[${i}]`), `${where}.deleted`));
  const twice = keys.find((key) => Object.hasOwn(delta, key));
  if (twice !== undefined) throw new Wrong(`${where} both sets and deletes ${show(twice)}`);
  return { author, text: string(it.text, `${where}.text`), delta, deleted: keys };
}

/**
 * A key that the agents don't keep themselves and that ADK's own `State` can write. @param {string} key @param
 * {string} where
 */
function usable(key, where) {
  if (OWN_KEYS.has(key)) throw new Wrong(`${where} uses ${show(key)}, which the agents keep for themselves`);
  if (key === '__proto__') throw new Wrong(`${where} uses ${show(key)}, which no tool can write through ADK's State`);
  return key;
}

/** @param {unknown} value @param {string} where @returns {Record<string, unknown>} */
function record(value, where) {
  if (value === undefined) throw new Wrong(`${where} is missing`);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Wrong(`${where} must be an object, not ${show(value)}`);
  }
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} value @param {string} where @returns {unknown[]} */
function list(value, where) {
  if (value === undefined) throw new Wrong(`${where} is missing`);
  if (!Array.isArray(value)) throw new Wrong(`${where} must be a list, not ${show(value)}`);
  return value;
}

/** @param {unknown} value @param {string} where @returns {string} */
function string(value, where) {
  if (value === undefined) throw new Wrong(`${where} is missing`);
  if (typeof value !== 'string') throw new Wrong(`${where} must be a string, not ${show(value)}`);
  return value;
}

/** @param {unknown} value @param {string} where */
function nonEmpty(value, where) {
  const text = string(value, where);
  if (text.trim() === '') throw new Wrong(`${where} is empty`);
  return text;
}

/** @param {unknown} value */
function show(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
