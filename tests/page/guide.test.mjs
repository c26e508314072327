// The guide that the page links to: the documents of this version, served with it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { site } from './support.mjs';

const folder = fileURLToPath(new URL('../../www/dist/guide', import.meta.url));
const documents = fileURLToPath(new URL('../../docs', import.meta.url));
const textOf = (name) => readFileSync(join(folder, name), 'utf8');

describe('the guide', () => {
  const it_ = site();

  it('has a page for each document', () => {
    const names = readdirSync(documents).filter((name) => name.endsWith('.md'));
    assert.ok(names.length > 20);
    for (const name of names) {
      const title = /^# (.+)$/m.exec(readFileSync(join(documents, name), 'utf8'))[1].replaceAll('`', '');
      const [, shown] = /<h1[^>]*>(.+)<\/h1>/.exec(textOf(name.replace(/\.md$/, '.html')));
      assert.equal(shown.replace(/<\/?code>/g, ''), title.replaceAll('&', '&amp;'));
    }
  });

  it('links to pages, places and pictures that are there', () => {
    let count = 0;
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.html'))) {
      for (const [, target] of textOf(name).matchAll(/(?:href|src)="([^"]+)"/g)) {
        if (target.startsWith('https:')) continue;
        const [file, anchor] = target.split('#');
        const path = file === '' ? name : posix.normalize(file);
        assert.ok(existsSync(join(folder, path)), `${name}: ${target}`);
        if (anchor !== undefined) assert.ok(textOf(path).includes(` id="${anchor}"`), `${name}: ${target}`);
        count += 1;
      }
    }
    assert.ok(count > 100);
  });

  it('is where the page links to', async (t) => {
    const page = await it_.open(t);
    for (const [link, heading] of [
      ['Guide', 'statepad'],
      ['Rust', 'statepad'],
    ]) {
      const [opened] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: link, exact: true }).click(),
      ]);
      await opened.getByRole('heading', { level: 1, name: heading }).waitFor();
      assert.match(opened.url(), /\/dist\/guide\/\w+\.html$/);
      await opened.close();
    }
  });
});
