// A runner of the cases of tests/cases/vertex.json, over any server of the API.

import assert from 'node:assert/strict';

const ID = /^\d{1,19}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d{3})?Z$/;

/** The time at which every case begins, in milliseconds since the epoch. */
export const BEGIN = Date.parse('2026-01-01T00:00:00Z');

/**
 * Runs the steps of a case. `server` has `ask`, see ask.mjs; `names`, of what answers name: `sessions`, `location` and
 * `asked`; `wait(milliseconds)`; and `disturb(trouble)`.
 */
export async function runCase(steps, server, version) {
  const saved = { ...server.names };
  for (const step of steps) {
    if (step.wait !== undefined) {
      server.wait(step.wait);
    } else if (step.disturb !== undefined) {
      server.disturb(step.disturb);
    } else {
      for (let count = 0; count < (step.repeat ?? 1); count += 1) {
        await take(inVersion(step, version), server.ask, saved);
      }
    }
  }
}

async function take(step, ask, saved) {
  const given = await ask(lineOf(step, saved), step.text ?? step.body);
  const { status = step.error === undefined ? 200 : statusOf(step) } = step;
  assert.equal(given.status, status, `${step.ask}: ${given.text}`);
  if (step.page) {
    assert.equal(given.body, undefined);
  } else if (step.error !== undefined) {
    checkError(given.body.error, step.error, status, saved);
  } else {
    checkAnswer(given, step, saved);
  }
}

/** Messages are named after the version of the API. */
function inVersion(step, version) {
  return JSON.parse(JSON.stringify(step).replaceAll('aiplatform.v1beta1.', `aiplatform.${version}.`));
}

function lineOf({ ask, query = {} }, saved) {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(filled(value, saved))}`);
  return `${filled(ask, saved)}${pairs.length === 0 ? '' : `?${pairs.join('&')}`}`;
}

/** A text with what was saved in its places. */
function filled(text, saved) {
  return text.replace(/\{(\w+)\}/g, (place, name) => saved[name] ?? place);
}

function statusOf({ error }) {
  return { INVALID_ARGUMENT: 400, NOT_FOUND: 404 }[error.status];
}

function checkError(given, { status, message, fields }, code, saved) {
  assert.equal(given.message, filled(message, saved));
  const details = { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: fields };
  const wanted = { code, message: given.message, status, ...(fields !== undefined && { details: [details] }) };
  assert.deepEqual(given, wanted);
}

function checkAnswer({ body, text }, step, saved) {
  const {
    answer = {},
    exact = false,
    without = [],
    count = {},
    contains = [],
    differs,
    save = {},
    same,
    state,
  } = step;
  match(body, answer, exact, saved, step.ask);
  assert.deepEqual(state ?? body.sessionState, body.sessionState);
  for (const name of without) {
    assert.ok(!Object.hasOwn(body, name), `${step.ask} has ${name}`);
  }
  for (const [name, length] of Object.entries(count)) {
    assert.equal(body[name].length, length, name);
  }
  const line = text.replace(/\s+/g, ' ');
  for (const part of contains) {
    assert.ok(line.includes(part), `${part} in ${line}`);
  }
  assert.ok(differs === undefined || !line.includes(differs), line);
  assert.ok(same === undefined || saved[same].wanted === JSON.stringify(at(body, saved[same].path)), line);
  for (const [name, path] of Object.entries(save)) {
    const value = at(body, path);
    saved[name] = typeof value === 'string' ? value : { path, wanted: JSON.stringify(value) };
  }
}

function at(body, path) {
  return path.split('.').reduce((value, name) => value[name], body);
}

function match(given, wanted, exact, saved, path) {
  if (typeof wanted === 'string') {
    matchText(given, filled(wanted, saved), path);
  } else if (typeof wanted !== 'object' || wanted === null) {
    assert.equal(given, wanted, path);
  } else {
    assert.equal(Array.isArray(given), Array.isArray(wanted), path);
    const names = exact || Array.isArray(wanted) ? Object.keys(given) : Object.keys(wanted);
    assert.deepEqual([...names].sort(), Object.keys(wanted).sort(), `the members of ${path}`);
    for (const [name, member] of Object.entries(wanted)) {
      match(given[name], member, exact, saved, `${path}.${name}`);
    }
  }
}

function matchText(given, wanted, path) {
  const parts = wanted.split('/');
  const found = String(given).split('/');
  assert.equal(found.length, parts.length, `${path} is ${given}`);
  for (const [index, part] of parts.entries()) {
    if (part === '{digits}' || part === '{time}') {
      assert.match(found[index], part === '{time}' ? TIME : ID, path);
    } else {
      assert.equal(found[index], part, path);
    }
  }
}
