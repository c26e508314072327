// The marks of the timeline. They have no elements of their own, so a pointer finds them by their places.

/** @typedef {import('playwright-core').Page} Page */

/**
 * The path whose markers are the marks of all events that look like one.
 *
 * @param {Page} page @param {number} revision
 */
export const marksLike = (page, revision) => page.locator(`statepad-timeline .marks[data-revisions~="${revision}"]`);

/**
 * The middle of the sign of an event's mark, in px from the start of the window. It is scrolled into view. A function
 * of the page, too.
 *
 * @param {SVGElement | HTMLElement} element @param {number} revision
 * @returns {[number, number]}
 */
export const placeIn = (element, revision) => {
  const path = /** @type {SVGGraphicsElement} */ (element);
  const place = (path.dataset.revisions ?? '').split(' ').indexOf(String(revision));
  const numbers = Array.from((path.getAttribute('d') ?? '').matchAll(/[\d.]+/g), ([text]) => Number(text));
  const own = new window.DOMPoint(numbers[2 * place], numbers[2 * place + 1] + 8);
  const scroller = path.closest('.scroller');
  const onScreen = () => own.matrixTransform(path.getScreenCTM() ?? undefined);
  if (scroller !== null) {
    const { left, width } = scroller.getBoundingClientRect();
    const from = onScreen().x - left;
    if (from < 0 || from > width) scroller.scrollLeft += from - width / 2;
  }
  const { x, y } = onScreen();
  return [x, y];
};

/**
 * As {@link placeIn}, for a page. Waits until the mark is drawn.
 *
 * @param {Page} page @param {number} revision
 */
export const placeOfMark = (page, revision) => marksLike(page, revision).evaluate(placeIn, revision);

/**
 * Clicks the mark of an event, where it is drawn: what lies above it takes the click for it.
 *
 * @param {Page} page @param {number} revision
 */
export async function clickMark(page, revision) {
  await page.mouse.click(...(await placeOfMark(page, revision)));
}
