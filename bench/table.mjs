/** The results as lines of one table. */

import { BUNDLE, COLD, FLAT, MEMORY, ROWS } from './rows.mjs';

const HEAD = ['what', 'statepad', 'adk-js', 'ratio', 'aim', 'met?', 'pure JS'];

/** Three digits and a unit. */
function duration(nanoseconds) {
  if (nanoseconds === undefined) return '';
  const [unit, size] = nanoseconds < 1e3 ? ['ns', 1] : nanoseconds < 1e6 ? ['µs', 1e3] : ['ms', 1e6];
  return `${number(nanoseconds / size)} ${unit}`;
}

const number = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(value < 1 ? 2 : 3).replace(/\.0+$/u, '');
const bytes = (value) => (value === undefined ? '' : `${Math.round(value).toLocaleString('en')} B`);
const times = (value) => `${number(value)}x`;
const met = (is) => (is ? 'yes' : 'NO');

/** A row of two figures whose ratio has an aim, or none. */
function compared({ what, aim }, { statepad, adk, pure }, format) {
  const ratio = adk / statepad;
  return [
    what,
    format(statepad),
    format(adk),
    times(ratio),
    aim ? `>= ${number(aim)}x` : '',
    aim ? met(ratio >= aim) : '',
    format(pure),
  ];
}

/** A row of two figures, of which ours must not exceed `most`. */
function limited({ what, most }, { statepad, adk, pure }, format) {
  return [what, format(statepad), format(adk), '', `<= ${format(most)}`, met(statepad <= most), format(pure)];
}

const valuesOf = (figures) =>
  Object.fromEntries(Object.entries(figures).map(([side, figure]) => [side, figure?.value]));

/** What a cold start takes above that of node alone, which is the same for both. */
function aboveNode(cold) {
  const { statepad, adk, bare } = valuesOf(cold);
  return { statepad: statepad - bare, adk: adk - bare };
}

/** Every line of the table as a list of cells. */
export function lines({ rows, memory, cold, sizes }) {
  const value = (id, side) => rows[id][side].value;
  const flat = Object.fromEntries(
    ['statepad', 'adk', 'pure'].map((side) => [side, value('appendAt10000', side) / value('appendAt10', side)]),
  );
  const [appends, others] = [ROWS.slice(0, 3), ROWS.slice(3)];
  const timed = (row) => compared(row, valuesOf(rows[row.id]), duration);
  return [
    ...appends.map(timed),
    limited(FLAT, flat, (ratio) => times(ratio)),
    ...others.map(timed),
    compared(COLD, aboveNode(cold), duration),
    compared(MEMORY, valuesOf(memory), bytes),
    limited(BUNDLE, { statepad: sizes.statepad.brotli, adk: sizes.adk?.brotli }, bytes),
    ['browser bundle, gzip', bytes(sizes.statepad.gzip), bytes(sizes.adk?.gzip), '', '', '', ''],
    ['browser bundle, raw', bytes(sizes.statepad.raw), bytes(sizes.adk?.raw), '', '', '', ''],
  ];
}

/** The table as text. */
export function table(results) {
  const cells = [HEAD, ...lines(results)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const text = cells.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '),
  );
  text.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return text.map((line) => line.trimEnd()).join('\n');
}

/** What one has to know to read the table. */
export function notes({ cold, sizes, about }) {
  const { statepad, adk, bare } = valuesOf(cold);
  const { faults } = sizes;
  const own = faults.filter((fault) => fault.includes('@google/adk'));
  return [
    `cold start: a whole process takes ${duration(statepad)} against ${duration(adk)}; node alone ${duration(bare)}`,
    `browser bundle: all that statepad exports; its module alone ${bytes(sizes.module.raw)}, brotli ${bytes(sizes.module.brotli)}; with a store it loads ${bytes(sizes.later.brotli)} more, brotli`,
    ...(faults.length === 0
      ? []
      : [
          `browser bundle of adk-js: InMemorySessionService and injectSessionState of its web build do not bundle, ${faults.length} imports fail, ` +
            `${own.length} of them its own (${own[0] ?? faults[0]}); the bytes are those of the two modules alone without what is Node's: they would not run`,
        ]),
    'adk-js has nothing to compile a template to: both its rows are injectSessionState; the rows of its lists have no state',
    'pure JS: what plain JavaScript could do with the same design (bench/pure-js.mjs)',
    `${about}; medians, each figure from processes of its own; machines like this are noisy: look at the ratios`,
  ];
}
