// Texts in the conversation: Markdown, without danger for whoever reads it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const texts = async ({ service, arg }) => {
  const session = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's' });
  for (const text of arg) {
    await service.appendEvent({ session, event: { author: 'agent', content: { role: 'model', parts: [{ text }] } } });
  }
};

/** The elements of a rendered text: their names, and the attributes that matter. */
const elementsOf = async (text) =>
  await text.locator('.markdown').evaluate((root) =>
    [...root.querySelectorAll('*')].map((one) => {
      const href = one.getAttribute('href');
      return href === null ? one.localName : `${one.localName} ${href}`;
    }),
  );

describe('a text', () => {
  const bench = workbench();

  const open = async (t, ...arg) => {
    const page = await bench.inPage(t, { seed: texts, arg });
    const text = page.locator('statepad-conversation #entry-1 statepad-text');
    return { page, text, entry: page.locator('statepad-conversation #entry-1') };
  };

  it('is drawn as Markdown: emphasis, lists, tables, code', async (t) => {
    const { text } = await open(
      t,
      '# Trip\n\n- **bold** and `code`\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```js\nlet x;\n```',
    );
    assert.deepEqual(await elementsOf(text), [
      ...['p', 'ul', 'li', 'strong', 'code', 'div', 'table', 'thead', 'tr', 'th', 'th', 'tbody', 'tr', 'td', 'td'],
      ...['pre', 'code'],
    ]);
    assert.equal(await text.locator('.heading').getAttribute('data-level'), '1');
    assert.equal(
      await text
        .locator('td')
        .nth(1)
        .evaluate((cell) => getComputedStyle(cell).textAlign),
      'end',
    );
    assert.equal(await text.locator('pre').getAttribute('data-language'), 'js');
  });

  it('has links that can be followed safely, and images as links', async (t) => {
    const { text } = await open(
      t,
      [
        '[good](https://example.com/x) https://example.com/plain [mail](mailto:a@example.com)',
        '[script](javascript:alert(1)) [data](data:text/html,x) [here](/inspector/) [there](//example.com) readme.md',
        '![photo](https://example.com/p.png) ![](data:image/png;base64,AAAA)',
      ].join('\n\n'),
    );
    await text.locator('.markdown').waitFor();
    const links = await text
      .locator('a')
      .evaluateAll((all) => all.map(({ href, rel, target }) => [href, rel, target]));
    const safe = ['noopener noreferrer', '_blank'];
    assert.deepEqual(links, [
      ['https://example.com/x', ...safe],
      ['https://example.com/plain', ...safe],
      ['mailto:a@example.com', ...safe],
      ['https://example.com/p.png', ...safe],
    ]);
    assert.equal(await text.locator('img').count(), 0);
  });

  it('never becomes markup: tags, the markers of lit and the names of members stay text', async (t) => {
    const hostile = [
      '<img src=x onerror="globalThis.harmed = true"> <script>globalThis.harmed = true</script>',
      '?lit$123456789$ <!--?lit$123456789$--> ${globalThis.harmed = true}',
      '[x](javascript:globalThis.harmed=true) [y](JaVaScRiPt:1) <javascript:alert(1)>',
      '`__proto__` constructor &lt;b&gt; \u202egnp.exe',
    ].join('\n\n');
    const { page, text } = await open(t, hostile, hostile);
    await text.locator('.markdown').waitFor();
    assert.deepEqual(await elementsOf(text), ['p', 'p', 'p', 'p', 'code']);
    assert.match(await text.locator('.markdown').innerText(), /<img src=x onerror="globalThis\.harmed = true">/);
    assert.match(await text.locator('.markdown').innerText(), /<!--\?lit\$123456789\$-->/);
    assert.equal(await page.evaluate(() => globalThis.harmed), undefined);
  });

  it('is shown as it was written on demand', async (t) => {
    const { text, entry } = await open(t, '**bold**');
    await text.locator('strong').waitFor();
    await entry.hover();
    await entry.getByRole('button', { name: 'text of #1 as it was written' }).click();
    assert.equal(await text.locator('.plain').innerText(), '**bold**');
    await entry.getByRole('button', { name: 'text of #1 as it was written' }).click();
    await text.locator('strong').waitFor();
  });

  it('has the direction of its letters, block by block', async (t) => {
    const { text } = await open(t, 'מה שלומך\n\nfine 🌞');
    await text.locator('.markdown').waitFor();
    const directions = await text.locator('p').evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
    assert.deepEqual(directions, ['rtl', 'ltr']);
  });

  it('of a million characters begins with its beginning, and is there as a whole on demand', async (t) => {
    const long = `begin ${'word '.repeat(200_000)}end`;
    const { text } = await open(t, long);
    const more = text.getByRole('button', { name: 'Show all (1,000,009 characters)' });
    await more.waitFor();
    assert.ok((await text.innerText()).length < 6000);
    await more.click();
    const whole = text.getByRole('group', { name: 'whole text' });
    assert.equal(await whole.evaluate((it) => it.textContent.length), 1_000_009);
    assert.ok(await whole.evaluate((it) => it.clientHeight < 900 && it.scrollHeight > it.clientHeight));
    await text.getByRole('button', { name: 'Show less' }).click();
  });
});
