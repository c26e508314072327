// A runner of what clients in other languages ask, and what they read of the answers: tables of data, from their
// sources.
//
// In what is wanted, an object is compared member by member, and a list item by item. Besides:
//   "$any", "$absent", "$time"             any value, none, a time
//   "$begins:text", "$matches:pattern"     texts
//   { "$exactly": value }                  this value and no other member
//   { "$only": [names] }                   the names of all members that there may be
//   { "$sent": [step, path] }              a part of the body of an earlier step

import assert from 'node:assert/strict';

const HOST = 'http://localhost';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6}|\.\d{9})?Z$/;

/** Runs a table against a function like `fetch`. */
export async function runClient({ version, headers, steps }, fetch) {
  const taken = {};
  const sent = {};
  const filled = (text) => text.replace(/\{(\w+)\}/g, (place, name) => taken[name] ?? place);
  for (const { name, ask, body, status = 200, wants, takes = {} } of steps) {
    sent[name] = body;
    const [method, path] = filled(ask).split(/ (.*)/s);
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await fetch(`${HOST}/${version}/${path}`, init);
    const text = await response.text();
    assert.equal(response.status, status, `${name}: ${text}`);
    const answer = JSON.parse(text);
    match(answer, wants, { path: name, filled, sent });
    for (const [key, [member, part]] of Object.entries(takes)) {
      taken[key] = answer[member].split('/').at(part);
    }
  }
}

function match(given, wanted, context) {
  const { path, filled, sent } = context;
  if (typeof wanted === 'string') {
    matchText(given, filled(wanted), path);
  } else if (typeof wanted !== 'object' || wanted === null) {
    assert.equal(given, wanted, path);
  } else if (Array.isArray(wanted)) {
    assert.equal(given?.length, wanted.length, `the items of ${path}`);
    wanted.forEach((item, index) => match(given[index], item, { ...context, path: `${path}[${index}]` }));
  } else if (wanted.$exactly !== undefined) {
    assert.deepEqual(given, wanted.$exactly, path);
  } else if (wanted.$sent !== undefined) {
    const [step, part] = wanted.$sent;
    assert.deepEqual(given, at(sent[step], part), path);
  } else {
    matchMembers(given, wanted, context);
  }
}

function matchMembers(given, { $only, ...wanted }, { path, ...context }) {
  if ($only !== undefined) {
    assert.deepEqual(
      Object.keys(given).filter((name) => !$only.includes(name)),
      [],
      `unknown members of ${path}`,
    );
  }
  for (const [name, member] of Object.entries(wanted)) {
    match(given[name], member, { ...context, path: `${path}.${name}` });
  }
}

function matchText(given, wanted, path) {
  const [, kind, rest] = /^\$(\w+):?(.*)$/s.exec(wanted) ?? [];
  switch (kind) {
    case 'any':
      return assert.notEqual(given, undefined, path);
    case 'absent':
      return assert.equal(given, undefined, path);
    case 'time':
      return assert.match(given, TIME, path);
    case 'begins':
      return assert.ok(given.startsWith(rest) && given.length > rest.length, `${path}: ${given}`);
    case 'matches':
      return assert.match(given, new RegExp(rest), path);
    default:
      return assert.equal(given, wanted, path);
  }
}

function at(value, path) {
  return path.split('.').reduce((part, name) => part[name], value);
}
