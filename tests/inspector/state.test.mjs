// The state as a tree: scopes, keys and members at every moment, what has changed, and what can be written.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const ana = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };

/** A trip in four turns: the third one changes a value inside of another, and deletes a key. */
const trip = async ({ service, arg }) => {
  const session = await service.createSession({
    ...arg,
    state: { city: 'Lisbon', 'user:name': 'Ana', 'app:currency': 'EUR' },
  });
  const deltas = [
    { seats: 2, hotel: { name: 'Alfama Inn', prices: [380, 400], lift: false } },
    { date: '2031-05-03' },
    { hotel: { name: 'Miradouro', prices: [380, 400, 412], stars: 4 }, seats: undefined, 'user:last': 'Lisbon' },
    { booked: true },
  ];
  for (const [index, delta] of deltas.entries()) {
    const stateDelta = Object.fromEntries(
      Object.entries(delta).map(([key, value]) => [key, value ?? globalThis.statepad.DELETED]),
    );
    await service.appendEvent({
      session,
      event: { author: index % 2 ? 'user' : 'booker', invocationId: `i${index}`, actions: { stateDelta } },
    });
  }
};

const tree = (page) => page.locator('statepad-state-tree');
const row = (page, key) => tree(page).locator(`[data-id=${JSON.stringify(`key ${key}`)}]`);
const member = (page, ...path) => tree(page).locator(`[data-id=${JSON.stringify(`member ${JSON.stringify(path)}`)}]`);
const scope = (page, name) => tree(page).locator(`[data-id="scope ${name}"]`);
const button = (within, name) => within.getByRole('button', { name, exact: true });
const news = (page) => page.locator('statepad-state').getByRole('status');
const lines = (page) => tree(page).getByRole('row').allInnerTexts();
const travel = (page, revision) => page.evaluate((to) => globalThis.inspection.moveTo(to), revision);

/** The text of a line, in one line. */
const textOf = async (line) => (await line.innerText()).replace(/\s+/gu, ' ').trim();

async function act(page, key, name) {
  await row(page, key).hover();
  await button(row(page, key), name).click();
}

/** The name of what has the focus, wherever it is. */
const focused = (page) =>
  page.evaluate(() => {
    let it = document.activeElement;
    while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
    return it?.dataset.id ?? it?.getAttribute('aria-label') ?? it?.innerText;
  });

/** Waits until something has the focus. */
const untilFocused = async (page, name) => {
  for (const end = Date.now() + 10_000; Date.now() < end && (await focused(page)) !== name;)
    await page.evaluate(() => new Promise(globalThis.requestAnimationFrame));
  assert.equal(await focused(page), name);
};

describe('the state', () => {
  const bench = workbench();
  const open = (t, more = {}) =>
    bench.inPage(t, { seed: trip, arg: ana, ...more, mount: { write: true, ...more.mount } });

  it('is a tree of scopes, keys and members, with who wrote each key', async (t) => {
    const page = await open(t);
    assert.match(await textOf(scope(page, 'session')), /^session 4 this session alone/);
    assert.match(await textOf(scope(page, 'user')), /^user 2 shared by all sessions of user ana/);
    assert.match(await textOf(scope(page, 'app')), /^app 1 shared by all sessions of this app/);
    assert.match(await textOf(scope(page, 'temp')), /^temp 0 not stored/);
    assert.match(await textOf(row(page, 'city')), /city "Lisbon" creation$/);
    assert.match(await textOf(row(page, 'date')), /date "2031-05-03" written by #2 user/);
    assert.match(await textOf(row(page, 'hotel')), /hotel \{name: "Miradouro", prices: \[380, 400, 412\], stars: 4\}/);
    await row(page, 'hotel').locator('.twisty').click();
    await member(page, 'hotel', 'prices').locator('.twisty').click();
    assert.match(await textOf(member(page, 'hotel', 'prices', 2)), /^2 412$/);
    assert.equal(await member(page, 'hotel', 'prices', 2).getAttribute('aria-level'), '4');

    // It stays open while time moves.
    await travel(page, 1);
    await row(page, 'seats').waitFor();
    assert.match(await textOf(member(page, 'hotel', 'prices')), /\[380, 400\]/);
    await member(page, 'hotel', 'prices', 2).waitFor({ state: 'detached' });
    await travel(page, 0);
    await row(page, 'hotel').waitFor({ state: 'detached' });
    await travel(page, 4);
    await member(page, 'hotel', 'prices', 2).waitFor();
  });

  it('marks what the turn of the moment added, changed and deleted, with the value before', async (t) => {
    const page = await open(t);
    await travel(page, 3);
    await page.locator('statepad-state').getByText('Turn #3').waitFor();
    assert.match(await textOf(row(page, 'seats')), /deleted seats 2/);
    assert.equal(await row(page, 'seats').locator('del').innerText(), '2');
    assert.match(await textOf(row(page, 'hotel')), /changed hotel .*Alfama.* is now .*Miradouro/);
    assert.match(await textOf(row(page, 'user:last')), /added user:last "Lisbon"/);
    assert.doesNotMatch(await textOf(row(page, 'city')), /added|changed|deleted/);
    await travel(page, 4);
    await row(page, 'seats').waitFor({ state: 'detached' });
  });

  it('compares two moments down to the members, and only what changed on demand', async (t) => {
    const page = await open(t);
    await travel(page, 1);
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption({ label: 'Against now (#4)' });
    await page.getByRole('button', { name: 'swap both moments' }).click();
    await page.locator('statepad-state').getByText('#1 → #4').waitFor();
    // A change inside of a value is open by itself.
    assert.match(await textOf(member(page, 'hotel', 'name')), /changed name "Alfama Inn" ?→ is now "Miradouro"/);
    assert.match(await textOf(member(page, 'hotel', 'stars')), /added stars 4/);
    assert.match(await textOf(tree(page).locator('[data-id="gone [\\"hotel\\",\\"lift\\"]"]')), /deleted lift false/);
    assert.match(await textOf(member(page, 'hotel', 'prices', 2)), /added 2 412/);
    assert.doesNotMatch(await textOf(member(page, 'hotel', 'prices', 0)), /added|changed/);
    assert.match(await textOf(row(page, 'seats')), /deleted seats 2/);
    await page.getByRole('button', { name: 'Only changes' }).click();
    await row(page, 'city').waitFor({ state: 'detached' });
    await member(page, 'hotel', 'prices', 0).waitFor({ state: 'detached' });
    await row(page, 'booked').waitFor();
    await page.getByRole('button', { name: 'end comparing' }).click();
    await page.locator('statepad-state').getByText('Turn #4').waitFor();
    await row(page, 'seats').waitFor({ state: 'detached' });
    assert.deepEqual(
      (await lines(page)).map((line) => line.replace(/\s+/gu, ' ').trim().split(' ')[0]),
      ['session', '+', 'user', 'app', 'temp'],
    );
  });

  it('a filter keeps the keys that have it, marked and counted', async (t) => {
    const page = await open(t);
    const filter = page.getByRole('searchbox', { name: 'Filter keys and values' });
    await filter.fill('LISBON');
    await page.getByText('2 of 7 keys').waitFor();
    assert.equal(await row(page, 'city').locator('mark').innerText(), 'Lisbon');
    await row(page, 'user:last').waitFor();
    assert.equal(await row(page, 'booked').count(), 0);
    await filter.fill('no such thing');
    await page.getByText('No key and no value has this text.').waitFor();
    await filter.fill('');
    await row(page, 'booked').waitFor();
  });

  it('is left by one Tab and walked by arrows, letters, Home and End', async (t) => {
    const page = await open(t);
    await scope(page, 'session').focus();
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
      return await focused(page);
    };
    assert.equal(await press('ArrowDown', 'ArrowDown'), 'key city');
    assert.equal(await press('h'), 'key hotel');
    assert.equal(await press('ArrowRight', 'ArrowRight'), 'member ["hotel","name"]');
    assert.equal(await press('ArrowLeft'), 'key hotel');
    assert.equal(await row(page, 'hotel').getAttribute('aria-expanded'), 'true');
    assert.equal(await press('ArrowLeft'), 'key hotel');
    assert.equal(await row(page, 'hotel').getAttribute('aria-expanded'), 'false');
    assert.equal(await press('ArrowLeft'), 'scope session');
    assert.equal(await press('ArrowLeft', 'ArrowDown'), 'scope user');
    assert.equal(await press('End'), 'scope temp');
    assert.equal(await press('Home', 'ArrowRight', 'ArrowDown', 'Enter'), 'key booked');
    assert.equal(await page.evaluate(() => globalThis.inspection.traced), 'booked');
    assert.equal(await row(page, 'booked').getAttribute('aria-selected'), 'true');
    // The buttons of the line are behind it.
    assert.equal(await press('ArrowRight', 'ArrowRight'), 'history of booked');
    assert.equal(await press('Escape'), 'key booked');
    assert.equal(await tree(page).locator('[role=row][tabindex="0"]').count(), 1);
  });

  it('lights up a key that is pointed at elsewhere, and points at its writer itself', async (t) => {
    const page = await open(t);
    await page.evaluate(() => globalThis.inspection.point({ key: 'city' }));
    await tree(page).locator('[data-pointed]').getByText('city').waitFor();
    await page.evaluate(() => globalThis.inspection.point({ revision: 2 }));
    await tree(page).locator('[data-pointed]').getByText('date').waitFor();
    assert.equal(await tree(page).locator('[data-pointed]').count(), 1);
    await row(page, 'hotel').hover();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.pointed), { key: 'hotel', revision: 3 });
    await page.getByRole('searchbox', { name: 'Filter keys and values' }).hover();
    assert.equal(await page.evaluate(() => globalThis.inspection.pointed), undefined);
    await button(row(page, 'date'), 'written by #2 user').click();
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 2);
  });

  it('a key is added as JSON that is checked as one types, and is an event of the log', async (t) => {
    const page = await open(t);
    await button(page, 'add key to session').click();
    const name = page.getByRole('textbox', { name: 'name of the new session key' });
    const value = page.getByRole('textbox', { name: 'value as JSON' });
    const editor = page.getByRole('form', { name: 'add a key to session' });
    await name.fill('topic');
    await value.fill('{\n "a": 1,\n "b" 2}');
    await editor.getByText('not valid: : should be here').waitFor();
    assert.equal(await value.getAttribute('aria-invalid'), 'true');
    await button(editor, 'Save').click();
    await editor.getByRole('alert').getByText('not saved').waitFor();
    await button(editor, 'line 3, column 6').click();
    await page.keyboard.type(':');
    await editor.getByText('valid JSON', { exact: true }).waitFor();
    await button(editor, 'Save').click();
    await row(page, 'topic').getByText('{a: 1, b: 2}').waitFor();
    await untilFocused(page, 'add key to session');
    const event = await page.evaluate(async (key) => (await globalThis.service.getSession(key)).events.at(-1), ana);
    assert.equal(event.author, 'inspector');
    assert.deepEqual(event.actions.stateDelta, { topic: { a: 1, b: 2 } });

    await button(page, 'add key to user').click();
    await page.getByRole('textbox', { name: 'name of the new user key' }).fill('name');
    await page.getByText('user:name is there already').waitFor();
    await page.getByRole('textbox', { name: 'value as JSON' }).fill('1');
    await button(page, 'edit it').click();
    assert.equal(await page.getByRole('textbox', { name: 'value of user:name as JSON' }).inputValue(), '1');
  });

  it('a key is changed and deleted, flashes, and what happened is said', async (t) => {
    const page = await open(t);
    await act(page, 'city', 'edit city');
    const value = page.getByRole('textbox', { name: 'value of city as JSON' });
    await value.fill('Porto');
    await button(page, 'use it as text').click();
    assert.equal(await value.inputValue(), '"Porto"');
    await value.press('Control+Enter');
    await news(page).getByText('city changed').waitFor();
    await row(page, 'city').getByText('"Porto"').waitFor();
    assert.notEqual(await row(page, 'city').getAttribute('data-flash'), null);
    await untilFocused(page, 'edit city');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await button(page, 'yes, delete city').waitFor();
    // A user who holds Enter down deletes nothing.
    await untilFocused(page, 'no, keep city');
    await page.keyboard.press('Escape');
    await button(page, 'yes, delete city').waitFor({ state: 'detached' });
    await untilFocused(page, 'delete city');
    await page.keyboard.press('Enter');
    await button(page, 'yes, delete city').click();
    await row(page, 'city').getByText('deleted').waitFor({ state: 'attached' });
    const { state, events } = await page.evaluate(async (key) => {
      const session = await globalThis.service.getSession(key);
      return { state: { ...session.state }, events: session.events.length };
    }, ana);
    assert.equal(state.city, undefined);
    assert.equal(events, 6);
  });

  it('an editor says what was written meanwhile, and overwrites it only when told so', async (t) => {
    const page = await open(t);
    await act(page, 'city', 'edit city');
    const value = page.getByRole('textbox', { name: 'value of city as JSON' });
    await value.fill('"Faro"');
    await page.evaluate(async (key) => {
      const session = await globalThis.service.getSession(key);
      await globalThis.service.appendEvent({
        session,
        event: { author: 'other', actions: { stateDelta: { city: 'Porto' } } },
      });
      await globalThis.inspection.refresh();
    }, ana);
    await page.getByText('changed meanwhile by #5 other to').waitFor();
    await value.press('Control+Enter');
    await page.getByRole('alert').getByText('keep your value, or take over').waitFor();
    await button(page, 'keep mine').click();
    await value.press('Control+Enter');
    await row(page, 'city').getByText('"Faro"').waitFor();
  });

  it('what cannot be written is read-only, and refusals keep what was typed', async (t) => {
    const readOnly = await open(t, { mount: { write: false } });
    await row(readOnly, 'city').hover();
    await button(row(readOnly, 'city'), 'copy the value of city').waitFor();
    assert.equal(await readOnly.getByRole('button', { name: /^(add key|edit|delete|fork) / }).count(), 0);

    const page = await open(t);
    await act(page, 'city', 'edit city');
    const value = page.getByRole('textbox', { name: 'value of city as JSON' });
    await value.fill('"\\ud83d"');
    await value.press('Control+Enter');
    await page.getByRole('alert').getByText('VALUE_NOT_JSON', { exact: false }).waitFor();
    assert.equal(await value.inputValue(), '"\\ud83d"');
  });

  it('a value and the path to it are copied', async (t) => {
    const page = await open(t);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await act(page, 'city', 'copy the value of city');
    await news(page).getByText('copied').waitFor();
    assert.equal(await copied(), 'Lisbon');
    await row(page, 'hotel').locator('.twisty').click();
    await member(page, 'hotel', 'prices').locator('.twisty').click();
    const price = member(page, 'hotel', 'prices', 1);
    await price.hover();
    await button(price, 'copy {1 of hotel}').click();
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('{'));
    assert.equal(await copied(), '{hotel.prices[1]}');
  });

  it('shows hostile names and values as what they are', async (t) => {
    const names = [
      '__proto__',
      'constructor',
      'toString',
      '',
      '<b>bold</b>',
      '?lit$123$',
      '<!--?lit-->',
      '{x}',
      'a"b',
    ];
    const page = await bench.inPage(t, {
      arg: { ana, names },
      seed: async ({ service, arg }) => {
        const state = Object.fromEntries(
          arg.names.map((name) => [name, { [name]: '<img src=x onerror=alert(1)>', list: ['?lit$1$', '{{x}}'] }]),
        );
        await service.createSession({ ...arg.ana, state });
      },
      mount: { write: true },
    });
    await scope(page, 'session').getByText(String(names.length)).waitFor();
    for (const name of names) {
      const line = row(page, name);
      assert.match(await textOf(line), /<img src=x onerror=alert\(1\)>/, name);
      await line.locator('.twisty').click();
      assert.match(await textOf(member(page, name, name)), /"<img src=x onerror=alert\(1\)>"/, name);
    }
    assert.equal(await tree(page).locator('img, b').count(), 0);
    await page.evaluate(() => globalThis.inspection.compareWith(0));
    await page.locator('statepad-state').getByText('no keys changed').waitFor();
  });

  it('of many keys only those in view are drawn, and the scope of them stays in view', async (t) => {
    const page = await bench.inPage(t, {
      arg: ana,
      seed: async ({ service, arg }) => {
        const state = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key_${index}`, { index }]));
        await service.createSession({ ...arg, state });
      },
    });
    await row(page, 'key_1').waitFor();
    assert.ok((await tree(page).getByRole('row').count()) < 80);
    assert.equal(await tree(page).getByRole('treegrid').getAttribute('aria-rowcount'), '5004');
    await scope(page, 'session').focus();
    await page.keyboard.press('End');
    await untilFocused(page, 'scope temp');
    await row(page, 'key_4999').waitFor();
    await page.evaluate(() => globalThis.inspection.point({ key: 'key_2500' }));
    await tree(page).locator('[data-pointed]').getByText('key_2500').waitFor();
    const box = await scope(page, 'session').boundingBox();
    const top = await tree(page).boundingBox();
    assert.ok(Math.abs(box.y - top.y) < 2);
    await page.getByRole('searchbox', { name: 'Filter keys and values' }).fill('4999');
    await page.getByText('1 of 5000 keys').waitFor();
  });
});
