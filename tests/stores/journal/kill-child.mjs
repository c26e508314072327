// Appends to a journal without end, one by one and several at a time, and prints the number of each that is
// acknowledged.

import { writeSync } from 'node:fs';
import { fileJournal } from 'statepad/stores/journal';
import { readyToGo } from '../../support/kill.mjs';
import { append, context, create } from './support.mjs';
import { keys, payload } from './kill-data.mjs';

const [path, round, sync] = process.argv.slice(2);
const store = fileJournal(path, { sync: sync === 'sync' });
await readyToGo();
await store.open({ migrate: 'create' }, context);
for (const key of keys) {
  if ((await store.load(key, { events: { last: 0 } }, context)) === null) {
    await store.commit(create(key, `c ${key.sessionId}`), context);
  }
}
const make = (number) => {
  const id = `${round} ${number}`;
  const change = append(keys[number % keys.length], id, {
    session: { set: { [id]: number } },
    app: { set: { last: id } },
  });
  return { ...change, event: { ...change.event, data: payload(id) } };
};
for (let number = 0; ;) {
  const count = number % 3 === 0 ? keys.length : 1;
  const changes = Array.from({ length: count }, () => make(number++));
  const answers = count === 1 ? [await store.commit(changes[0], context)] : await store.commitMany(changes, context);
  // Straight into the pipe: what is printed was acknowledged, and survives this process.
  answers.forEach((_, index) => writeSync(1, `${number - count + index}\n`));
}
