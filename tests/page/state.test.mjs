// The state of the page: four scopes to look at and to write, each write an event.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newSession, site, stored, untilStored } from './support.mjs';

const state = (page) => page.getByRole('region', { name: 'State', exact: true });
const scope = (page, name) => state(page).getByRole('region', { name, exact: true });
const button = (within, name) => within.getByRole('button', { name, exact: true });
const row = (page, key) =>
  state(page)
    .getByRole('listitem')
    .filter({ has: button(page, key) });
const lineThrough = (shown) => shown.evaluate((it) => getComputedStyle(it).textDecorationLine);
const news = (page) => page.locator('statepad-state').getByRole('status');

/** Adds a key as a user does, and waits until it is on screen. `name` is without the prefix of its scope. */
async function add(page, where, name, json) {
  await button(page, `add key to ${where}`).click();
  await page.getByRole('textbox', { name: `name of the new ${where} key` }).fill(name);
  await page.getByRole('textbox', { name: 'value as JSON' }).fill(json);
  await button(page, 'Save').click();
  await button(scope(page, where), where === 'session' ? name : `${where}:${name}`).waitFor();
}

/** Gives a key another value as a user does. */
async function change(page, key, json) {
  await button(page, `edit ${key}`).click();
  await page.getByRole('textbox', { name: `value of ${key} as JSON` }).fill(json);
  await button(page, 'Save').click();
  await button(page, `edit ${key}`).waitFor();
}

/** The only session that is stored, once it has so many events. */
async function sessionWith(page, events) {
  const { sessions } = await untilStored(page, (found) =>
    found.sessions.some(({ events: { length } }) => length === events),
  );
  return sessions.find(({ events: { length } }) => length === events);
}

describe('the state', () => {
  const it_ = site();

  it('a key is added as JSON that is checked as one types, and is an event of the log', async (t) => {
    const page = await it_.open(t);
    await button(page, 'add key to session').click();
    const name = page.getByRole('textbox', { name: 'name of the new session key' });
    const value = page.getByRole('textbox', { name: 'value as JSON' });
    const editor = page.getByRole('form', { name: 'add a key to session' });
    await name.fill('topic');
    await value.fill('{\n "a": 1,\n "b" 2}');
    await editor.getByText('not valid: : should be here').waitFor();
    assert.equal(await value.getAttribute('aria-invalid'), 'true');
    assert.equal(await editor.locator('mark').innerText(), '2');
    await button(editor, 'Save').click();
    await editor.getByRole('alert').getByText('not saved').waitFor();
    assert.equal((await stored(page)).sessions[0].rev, 0, 'nothing is written that is no JSON');
    await button(editor, 'line 3, column 6').click();
    await page.keyboard.type(':');
    await editor.getByText('valid JSON', { exact: true }).waitFor();
    await button(editor, 'Save').click();
    await row(page, 'topic').getByText('{"a":1,"b":2}').waitFor();
    await button(row(page, 'topic'), '#1 inspector').waitFor();
    const { state: values, events } = await sessionWith(page, 1);
    assert.deepEqual(values, { topic: { a: 1, b: 2 } });
    assert.equal(events[0].author, 'inspector');
    assert.deepEqual(events[0].actions.stateDelta, { topic: { a: 1, b: 2 } });
  });

  it('a plain word can be used as text, and a name is added once and in its own scope', async (t) => {
    const page = await it_.open(t);
    await button(page, 'add key to user').click();
    const name = page.getByRole('textbox', { name: 'name of the new user key' });
    const value = page.getByRole('textbox', { name: 'value as JSON' });
    await name.fill('theme');
    await value.fill('very dark');
    await button(page, 'use it as text').click();
    assert.equal(await value.inputValue(), '"very dark"');
    await button(page, 'Save').click();
    await row(page, 'user:theme').getByText('"very dark"').waitFor();
    const { users } = await untilStored(page, (found) => found.users.ana?.theme !== undefined);
    assert.deepEqual(users, { ana: { theme: 'very dark' } });

    await button(page, 'add key to user').click();
    await name.fill('theme');
    await page.getByText('user:theme is there already').waitFor();
    await value.fill('1');
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('not saved').waitFor();
    await button(page, 'edit it').click();
    assert.equal(
      await page.getByRole('textbox', { name: 'value of user:theme as JSON' }).inputValue(),
      '1',
      'what was typed stays',
    );
    await button(page, 'Cancel').click();

    await button(page, 'add key to session').click();
    await page.getByRole('textbox', { name: 'name of the new session key' }).fill('app:model');
    await page.getByText('app:model is a key of app: add it there').waitFor();
    assert.equal((await stored(page)).sessions[0].rev, 1);
  });

  it('a key is changed and deleted: what the turn did is marked, and the log and the store have it', async (t) => {
    const page = await it_.open(t);
    await add(page, 'session', 'topic', '"fractions"');
    assert.match(await row(page, 'topic').innerText(), /added in this turn/);
    await change(page, 'topic', '["decimals"]');
    await row(page, 'topic').getByText('changed in this turn').waitFor();
    const [before, after] = [
      row(page, 'topic').getByText('"fractions"'),
      row(page, 'topic').getByText('["decimals"]'),
    ];
    assert.match(await lineThrough(before), /line-through/);
    assert.doesNotMatch(await lineThrough(after), /line-through/);

    await button(page, 'delete topic').click();
    await button(page, 'no, keep topic').click();
    await button(page, 'delete topic').click();
    await button(page, 'yes, delete topic').click();
    await row(page, 'topic').getByText('deleted in this turn').waitFor();
    assert.match(await lineThrough(row(page, 'topic').getByText('["decimals"]')), /line-through/);
    assert.equal(await button(page, 'edit topic').count(), 0);
    const { state: values, events } = await sessionWith(page, 3);
    assert.deepEqual(values, {});
    assert.deepEqual(events[2].customMetadata.statepad.deleted, ['topic']);

    await add(page, 'session', 'other', '1');
    assert.equal(await row(page, 'topic').count(), 0, 'the next turn does not know of it any more');
  });

  it('a turn of several events is marked as one, and each key tells its event', async (t) => {
    const page = await it_.open(t);
    for (const turns of [1, 2, 3, 4, 5, 6]) {
      await button(page, 'Step').click();
      await page.getByText(`${turns} of 6 turns`).waitFor();
    }
    await state(page).getByText('Turn #7–#9').waitFor();
    await state(page).getByText('3 added').waitFor();
    await state(page).getByText('1 deleted').waitFor();
    await row(page, 'seats').getByText('deleted in this turn').waitFor();
    await row(page, 'booked').getByText('added in this turn').waitFor();
    assert.doesNotMatch(await row(page, 'hotel').innerText(), /in this turn/);
    await row(page, 'temp:plan').getByText('temp', { exact: true }).waitFor();
    await button(row(page, 'hotel'), '#6 agent').click();
    await page
      .getByRole('region', { name: 'Details' })
      .getByText('The Miradouro has a lift', { exact: false })
      .waitFor();
  });

  it('what changes flashes and is said, but not when one goes to another moment or session', async (t) => {
    const page = await it_.open(t, { options: { reducedMotion: 'no-preference' } });
    // Animations begin and never end: so there is time to look.
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Animation.enable');
    await cdp.send('Animation.setPlaybackRate', { playbackRate: 0 });
    const flashing = () =>
      page.locator('statepad-state li').evaluateAll((rows) => {
        const moving = rows.filter((it) => it.getAnimations().length > 0);
        return moving.map((it) => it.querySelector('.key').innerText);
      });
    await add(page, 'session', 'topic', '1');
    await news(page).getByText('topic added').waitFor();
    assert.deepEqual(await flashing(), ['topic']);
    await add(page, 'user', 'name', '"Ana"');
    await news(page).getByText('user:name added').waitFor();
    await change(page, 'topic', '2');
    await news(page).getByText('topic changed').waitFor();
    assert.deepEqual((await flashing()).sort(), ['topic', 'user:name']);

    await button(page, 'Step back').click();
    // The row shows what the value was before, too: the other moment is there when there is a way back.
    await button(state(page), 'Back to now').waitFor();
    await row(page, 'topic').getByText('1', { exact: true }).waitFor();
    assert.deepEqual(await flashing(), []);
    await button(state(page), 'Back to now').click();
    await row(page, 'topic').getByText('2', { exact: true }).waitFor();
    assert.deepEqual(await flashing(), []);
    await newSession(page);
    await row(page, 'user:name').getByText('another session').waitFor();
    assert.deepEqual(await flashing(), []);
    assert.equal(await news(page).innerText(), '');
  });

  it('another session of the user and another user see what is theirs', async (t) => {
    const page = await it_.open(t);
    await add(page, 'session', 'topic', '1');
    await add(page, 'user', 'name', '"Ana"');
    await add(page, 'app', 'notice', '"closed on Sunday"');
    await newSession(page);
    await row(page, 'user:name').getByText('another session').waitFor();
    await row(page, 'app:notice').getByText('"closed on Sunday"').waitFor();
    await scope(page, 'session').getByText('No keys yet').waitFor();

    await button(page, 'New user').click();
    await page.getByRole('textbox', { name: 'Name of the new user' }).fill('ben');
    await button(page, 'Create').click();
    await scope(page, 'user').getByText('shared by all sessions of user ben').waitFor();
    await scope(page, 'user').getByText('No keys yet').waitFor();
    await row(page, 'app:notice').waitFor();
    await add(page, 'user', 'name', '"Ben"');
    await change(page, 'app:notice', '"open again"');

    await page.getByLabel('User', { exact: true }).selectOption('ana');
    await row(page, 'user:name').getByText('"Ana"').waitFor();
    await row(page, 'app:notice').getByText('"open again"').waitFor();
    const { app, users } = await untilStored(page, (found) => found.app.notice === 'open again');
    assert.deepEqual([app, users], [{ notice: 'open again' }, { ana: { name: 'Ana' }, ben: { name: 'Ben' } }]);
  });

  it('the session that was asked for last is the one that is shown, whichever is there first', async (t) => {
    const page = await it_.open(t);
    const first = await page.getByLabel('Session', { exact: true }).inputValue();
    await page.locator('statepad-state').evaluate(async ({ inspection }, sessionId) => {
      const { appName, userId } = inspection.session;
      await Promise.all([
        inspection.create({ appName, userId, sessionId: 'slower' }),
        inspection.open({ appName, userId, sessionId }),
      ]);
    }, first);
    const sessions = page.getByLabel('Session', { exact: true });
    await sessions.locator('option[value="slower"]').waitFor({ state: 'attached' });
    assert.equal(await sessions.inputValue(), first);
    assert.ok(decodeURIComponent(new URL(page.url()).hash).endsWith(`/${first}`));
  });

  it('an editor says what was written meanwhile, and overwrites it only when told so', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context });
    await add(page, 'session', 'topic', '1');
    const other = await it_.open(t, { context, hash: new URL(page.url()).hash });
    await button(page, 'edit topic').click();
    const value = page.getByRole('textbox', { name: 'value of topic as JSON' });
    await value.fill('10');
    await change(other, 'topic', '20');
    // A tab in the background draws once a second.
    await page.bringToFront();
    await page.getByText('changed meanwhile by #2 inspector to').waitFor();
    await value.press('Control+Enter');
    await page.getByRole('alert').getByText('keep your value, or take over').waitFor();
    assert.equal(await value.inputValue(), '10');
    await button(page, 'keep mine').click();
    await other.bringToFront();
    await change(other, 'topic', '30');
    await page.bringToFront();
    await page.getByText('changed meanwhile by #3 inspector to').waitFor();
    await button(page, 'take over').click();
    assert.equal(await value.inputValue(), '30');
    await value.fill('31');
    await value.press('Control+Enter');
    await row(page, 'topic').getByText('31').waitFor();
    const { state: values, events } = await sessionWith(page, 4);
    assert.deepEqual(values, { topic: 31 });
    assert.deepEqual(
      events.map(({ actions }) => actions.stateDelta.topic),
      [1, 20, 30, 31],
    );
  });

  it('what is refused is told in place, and what was typed stays', async (t) => {
    const page = await it_.open(t);
    await button(page, 'add key to session').click();
    await page.getByRole('textbox', { name: 'name of the new session key' }).fill('half');
    const value = page.getByRole('textbox', { name: 'value as JSON' });
    await value.fill('"\\ud83d"');
    await value.press('Control+Enter');
    await page.getByRole('alert').getByText('VALUE_NOT_JSON', { exact: false }).waitFor();
    assert.equal(await value.inputValue(), '"\\ud83d"');
    assert.equal((await stored(page)).sessions[0].rev, 0);
  });

  it('all of it goes by keyboard', async (t) => {
    const page = await it_.open(t);
    const focused = () =>
      page.evaluate(() => {
        let it = document.activeElement;
        while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
        return it.getAttribute('aria-label') ?? it.innerText;
      });
    const press = async (...keys) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await button(page, 'add key to session').focus();
    await press('Enter');
    await page.getByRole('textbox', { name: 'value as JSON' }).waitFor();
    await page.keyboard.type('topic');
    await press('Tab');
    await page.keyboard.type('maths');
    await page.getByText('not valid', { exact: false }).waitFor();
    await press('Tab', 'Tab');
    assert.equal(await focused(), 'use it as text');
    await press('Enter');
    await page.getByText('valid JSON', { exact: true }).waitFor();
    await press('Control+Enter');
    await button(page, 'edit topic').waitFor();
    assert.equal(await focused(), 'add key to session');

    await press('Tab', 'Tab', 'Tab');
    assert.equal(await focused(), 'edit topic');
    await press('Enter');
    await page.getByRole('textbox', { name: 'value of topic as JSON' }).waitFor();
    await page.keyboard.type('never kept');
    await press('Escape');
    await button(page, 'edit topic').waitFor();
    assert.equal(await focused(), 'edit topic');

    await press('Tab', 'Enter');
    await button(page, 'yes, delete topic').waitFor();
    assert.equal(await focused(), 'no, keep topic');
    await press('Escape');
    await button(page, 'delete topic').waitFor();
    assert.equal(await focused(), 'delete topic');
    await press('Enter');
    await button(page, 'yes, delete topic').waitFor();
    await press('Shift+Tab', 'Enter');
    await row(page, 'topic').getByText('deleted in this turn').waitFor();
    assert.equal(await focused(), 'topic');
    const { events } = await sessionWith(page, 2);
    assert.deepEqual(
      events.map(({ actions }) => actions.stateDelta),
      [{ topic: 'maths' }, { topic: null }],
    );
  });

  it('in the past nothing is written, until one goes back to now', async (t) => {
    const page = await it_.open(t);
    await add(page, 'session', 'topic', '1');
    await add(page, 'session', 'level', '2');
    await button(page, 'Step back').click();
    await page.getByText('Read-only: moment 1 of 2').waitFor();
    assert.equal(await row(page, 'level').count(), 0);
    assert.equal(await page.getByRole('button', { name: /^(add key|edit|delete) / }).count(), 0);
    await button(state(page), 'Back to now').click();
    await button(page, 'edit level').waitFor();
  });

  it('a search shows the keys that have it, marked and counted', async (t) => {
    const page = await it_.open(t);
    await add(page, 'session', 'topic', '"long division"');
    await add(page, 'session', 'level', '3');
    await add(page, 'user', 'division', 'true');
    await add(page, 'app', 'notes', JSON.stringify({ text: `${'a'.repeat(500)} Division` }));
    await page.getByRole('searchbox').fill('DIVISION');
    await page.getByText('3 of 4 keys').waitFor();
    assert.equal(await row(page, 'level').count(), 0);
    assert.equal(await row(page, 'topic').locator('mark').innerText(), 'division');
    assert.equal(await row(page, 'user:division').locator('mark').innerText(), 'division');
    assert.equal(
      await row(page, 'app:notes').locator('mark').innerText(),
      'Division',
      'also when the value is folded',
    );
    await button(row(page, 'app:notes'), 'show all of app:notes').click();
    assert.match(
      await page.getByRole('group', { name: 'value of app:notes' }).innerText(),
      /^\{\n {2}"text": "a+ Division"\n\}$/,
    );
    await page.getByRole('searchbox').fill('');
    await row(page, 'level').waitFor();
  });
});
