// Forks from a moment: with another value of a key, or with another template. The past stays as it is.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const ana = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };

const trip = async ({ service, arg }) => {
  const session = await service.createSession(arg);
  for (const [index, hotel] of ['Alfama', 'Miradouro', 'Bairro'].entries()) {
    const actions = { stateDelta: { hotel, [`step_${index}`]: true } };
    await service.appendEvent({ session, event: { author: 'booker', invocationId: `i${index}`, actions } });
  }
};

const row = (page, key) => page.locator(`statepad-state-tree [data-id=${JSON.stringify(`key ${key}`)}]`);
const button = (within, name) => within.getByRole('button', { name, exact: true });
const travel = (page, revision) => page.evaluate((to) => globalThis.inspection.moveTo(to), revision);
const shown = (page) =>
  page.evaluate(() => {
    const { session, forkedFrom, template } = globalThis.inspection;
    return { id: session.id, state: { ...session.state }, forkedFrom, template };
  });

describe('a fork from a moment', () => {
  const bench = workbench();
  const open = (t, mount) =>
    bench.inPage(t, { seed: trip, arg: ana, mount: { write: true, template: 'Stay at {hotel}.', ...mount } });

  it('begins with another value of a key, and the past stays as it is', async (t) => {
    const page = await open(t);
    await travel(page, 2);
    await row(page, 'hotel').hover();
    assert.equal(await page.getByRole('button', { name: /^(edit|delete|add key) / }).count(), 0);
    await button(row(page, 'hotel'), 'fork from here with another value of hotel').click();
    const value = page.getByRole('textbox', { name: 'value of hotel as JSON' });
    assert.equal(await value.inputValue(), '"Miradouro"');
    await value.fill('"Sé"');
    await button(page, 'Fork from #2').click();
    await row(page, 'hotel').getByText('"Sé"').waitFor();
    const fork = await shown(page);
    assert.notEqual(fork.id, ana.sessionId);
    assert.deepEqual(fork.state, { hotel: 'Sé', step_0: true, step_1: true });
    assert.deepEqual(fork.forkedFrom, { session: ana, revision: 2 });
    assert.equal(fork.template, 'Stay at {hotel}.');
    assert.equal(await page.getByRole('form').count(), 0, 'the editor is done');
    await page.evaluate((ids) => globalThis.inspection.open(ids), ana);
    await row(page, 'hotel').getByText('"Bairro"').waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.forks.map(({ revision }) => revision)), [2]);
  });

  it('begins with another template', async (t) => {
    const page = await open(t);
    await travel(page, 1);
    const source = page.locator('statepad-prompt').getByRole('textbox', { name: 'Template' });
    assert.equal(await button(page, 'Fork from #1').count(), 0, 'there is nothing to fork with');
    await source.fill('Never stay at {hotel}.');
    await button(page, 'Fork from #1').click();
    await page.waitForFunction((id) => globalThis.inspection.session.id !== id, ana.sessionId);
    const fork = await shown(page);
    assert.deepEqual(fork.forkedFrom, { session: ana, revision: 1 });
    assert.equal(fork.template, 'Never stay at {hotel}.');
    assert.equal(await source.inputValue(), 'Never stay at {hotel}.');
  });

  it('is not offered where nothing may be written', async (t) => {
    const page = await open(t, { write: false });
    await travel(page, 2);
    await row(page, 'hotel').hover();
    await button(row(page, 'hotel'), 'history of hotel').waitFor();
    await page.locator('statepad-prompt').getByRole('textbox', { name: 'Template' }).fill('other');
    await page.locator('statepad-rendered').getByText('other').waitFor();
    assert.equal(await page.getByRole('button', { name: /fork/iu }).count(), 0);
  });

  it('tells why it failed, and keeps what was typed', async (t) => {
    const page = await open(t);
    await travel(page, 2);
    await row(page, 'hotel').hover();
    await button(row(page, 'hotel'), 'fork from here with another value of hotel').click();
    const value = page.getByRole('textbox', { name: 'value of hotel as JSON' });
    await value.fill('"\\ud83d"');
    await button(page, 'Fork from #2').click();
    await page.getByRole('alert').getByText('VALUE_NOT_JSON', { exact: false }).waitFor();
    assert.equal(await value.inputValue(), '"\\ud83d"');
    assert.equal((await shown(page)).id, ana.sessionId);
  });
});
