// A conversation of three turns for tests of the whole inspector: a tool that fails once, an error, a rewind.

/** The session of {@link story}. */
export const LISBON = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };

/** The number of its events. */
export const EVENTS = 9;

/** Writes the story; a function of the page. */
export const story = async ({ service }) => {
  const lisbon = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };
  const session = await service.createSession({ ...lisbon, state: { 'user:home': 'Berlin' } });
  const say = async (author, invocationId, parts, stateDelta = {}, more = {}) =>
    await service.appendEvent({
      session,
      event: { author, invocationId, content: { role: 'model', parts }, actions: { stateDelta }, ...more },
    });
  const words = (text) => [{ text }];
  await say('user', 'one', words('Two of us want to see Lisbon.'), { city: 'Lisbon', seats: 2 });
  await say('booker', 'one', [{ functionCall: { id: 'c1', name: 'find', args: { city: 'Lisbon' } } }]);
  await say('booker', 'one', [{ functionResponse: { id: 'c1', name: 'find', response: { error: 'timeout' } } }]);
  await say('booker', 'one', words('The Miradouro has a lift.'), { hotel: 'Miradouro' });
  await say('user', 'two', words('Book it.'), { 'user:last': 'Lisbon' });
  await say('booker', 'two', words('It is booked.'), { booked: true, 'app:rooms': 1 });
  await say('user', 'three', words('Cancel all of it.'), { booked: false });
  await service.appendEvent({
    session,
    event: { author: 'booker', invocationId: 'three', errorCode: 'RESOURCE_EXHAUSTED', errorMessage: 'overloaded' },
  });
  await service.rewind(session, { before: 'three' });
};

/**
 * The faults that axe finds in a page, or in an element of it, by the selectors that lead to it through shadow roots:
 * the rule, its impact, and the place. The page of the tests has no heading.
 */
export async function faultsOf(page, ...path) {
  return await faultsIn(page, path, { 'page-has-heading-one': { enabled: false } });
}

/** The faults that axe finds in a whole page, as {@link faultsOf} tells them. */
export async function faultsOfPage(page) {
  return await faultsIn(page, [], {});
}

async function faultsIn(page, path, rules) {
  const { readFile } = await import('node:fs/promises');
  const { createRequire } = await import('node:module');
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  return await page.evaluate(
    async ({ path: fromShadowDom, rules }) => {
      const context = fromShadowDom.length === 0 ? document : { fromShadowDom };
      const { violations } = await globalThis.axe.run(context, {
        resultTypes: ['violations'],
        rules,
      });
      return violations.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target.flat().join(' ')} ${failureSummary}`),
      );
    },
    { path, rules },
  );
}

/** The name of the element that has the focus, wherever it is. */
export const focused = (page) =>
  page.evaluate(() => {
    let it = document.activeElement;
    while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
    return it?.getAttribute('aria-label') ?? it?.id ?? '';
  });

/** Waits until the moment is at a revision. */
export const untilAt = (page, revision) =>
  page.waitForFunction((at) => globalThis.inspection.revision === at && globalThis.inspection.target === at, revision);

/** The middle of an element, in px. */
export async function middleOf(locator) {
  const { x, y, width, height } = await locator.boundingBox();
  return [x + width / 2, y + height / 2];
}
