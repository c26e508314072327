// Another process with a journal in a file. `hold`: opens it and waits. `open`: waits for a word, opens it, and waits
// for the end. `fill`: writes until there is no room, and tells what it saw.

import { once } from 'node:events';
import { fileJournal } from 'statepad/stores/journal';
import { append, context, create } from './support.mjs';

const [what, path] = process.argv.slice(2);
const store = fileJournal(path);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const open = async () => {
  try {
    await store.open({ migrate: 'create' }, context);
    say('open');
  } catch (error) {
    say({ code: error.code, message: error.message });
  }
};

if (what === 'hold') {
  await open();
  await once(process.stdin, 'data');
  await store.close();
  process.exit();
}
if (what === 'open') {
  say('ready');
  await once(process.stdin, 'data');
  await open();
  await once(process.stdin, 'end');
}
if (what === 'fill') {
  await store.open({ migrate: 'create' }, context);
  const key = { appName: 'app', userId: 'user', sessionId: 's' };
  await store.commit(create(key, 'c'), context);
  const big = 'x'.repeat(3000);
  const acknowledged = [];
  for (let number = 1; ; number++) {
    const change = append(key, `e${number}`, { session: { set: { big, number } } });
    try {
      await store.commit(change, context);
      acknowledged.push(change.id);
    } catch (error) {
      const { rev } = await store.load(key, { events: { last: 0 } }, context);
      const small = append(key, 'small');
      const fits = await store.commit(small, context).then(
        () => true,
        () => false,
      );
      say({ code: error.code, cause: error.cause?.code, acknowledged, rev, fits });
      break;
    }
  }
  await store.close();
}
