// Splits the module in two for browsers: the primary module, which a page loads first, and the secondary one, which it
// loads when it needs what is in there. Both share one memory and one table, so the core stays one program. The names
// are those of binaryen's `wasm-split`, which npm does not have.

/** An identifier of the text format. */
const ID = String.raw`\$(?:"(?:[^"\\]|\\.)*"|[^\s()]+)`;
const CALL = new RegExp(String.raw`\((?:return_)?call (${ID})|\(ref\.func (${ID})`, 'g');
const GLOBAL = new RegExp(String.raw`global\.[gs]et (${ID})`, 'g');
/** The name by which the secondary module imports from the primary one. */
const PRIMARY = 'primary';

/**
 * @typedef {object} Split the exports and the functions of the secondary module; what only they use goes with them
 * @property {RegExp} exports by the names of exports
 * @property {RegExp} indirect by the names of functions that are called by the table, so that no call names them
 */

/**
 * The two modules, in the text format. No function of the primary module calls one of the secondary module.
 *
 * @param {string} text the whole module in the text format, with the names of its functions
 * @param {Split} split
 */
export function splitModule(text, { exports, indirect }) {
  const items = itemsOf(text);
  /** @param {string} kind */
  const ofKind = (kind) => items.filter((item) => kindOf(item) === kind);
  const functions = new Map(ofKind('func').map((item) => [idOf(item), item]));
  const table = indirectFunctions(ofKind('elem'), ofKind('table'));
  /** @param {string} item */
  const isExported = (item) => exports.test(/"([^"]*)"/.exec(item)?.[1] ?? '');
  const roots = ofKind('export').filter((item) => item.includes('(func ') && !isExported(item));
  const primary = reachable(functions, [...roots.map(idOf), ...table.ids.filter((id) => !indirect.test(id))]);
  const secondary = [...functions.keys()].filter((id) => !primary.has(id));
  if (secondary.length === 0)
    throw new Error('the secondary module has no function: are their names called otherwise?');

  const shared = sharedItems(items, functions, secondary);
  /** @param {string} item */
  const isSecondary = (item) => ['func', 'export'].includes(kindOf(item)) && secondary.includes(idOf(item));
  /** @param {(id: string) => boolean} selects */
  const slots = (selects) =>
    table.ids.flatMap((id, index) =>
      selects(id) ? [`(elem (table ${table.id}) (i32.const ${table.start + index}) func ${id})`] : [],
    );
  return {
    primary: moduleOf([
      ...items.filter((item) => kindOf(item) !== 'elem' && !isSecondary(item)),
      ...slots((id) => primary.has(id) || !functions.has(id)),
      ...shared.map(({ name, kind, id }) => `(export "${name}" (${kind} ${id}))`),
    ]),
    secondary: moduleOf([
      ...ofKind('type'),
      ...shared.map(({ name, type }) => `(import "${PRIMARY}" "${name}" ${type})`),
      ...slots((id) => secondary.includes(id)),
      ...items.filter(isSecondary),
    ]),
    /** The names of the exports of the secondary module. */
    exported: ofKind('export')
      .filter(isSecondary)
      .map((item) => /** @type {RegExpExecArray} */ (/"([^"]*)"/.exec(item))[1]),
  };
}

/** @param {readonly string[]} items */
const moduleOf = (items) => `(module\n${items.join('\n')}\n)\n`;

/** @param {string} item */
const kindOf = (item) => /** @type {RegExpExecArray} */ (/^\((\w+)/.exec(item))[1];

/**
 * The identifier that an item defines, or exports.
 *
 * @param {string} item
 */
const idOf = (item) => /** @type {RegExpExecArray} */ (new RegExp(ID).exec(item))[0];

/**
 * The definitions of a module, each from its opening parenthesis to its closing one.
 *
 * @param {string} text
 */
function itemsOf(text) {
  const items = [];
  let [depth, start] = [0, 0];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[()]/g)) {
    if (token === '(' && ++depth === 2) start = index;
    if (token === ')' && depth-- === 2) items.push(text.slice(start, index + 1));
  }
  return items;
}

/**
 * The functions of the table, in the order of its slots, and the first slot. The first table is that of functions.
 *
 * @param {readonly string[]} elements
 * @param {readonly string[]} tables
 */
function indirectFunctions(elements, [table]) {
  if (elements.length !== 1) throw new Error(`the module has ${elements.length} lists of indirect functions, not one`);
  const [before, start] = /** @type {RegExpExecArray} */ (/^.*?\(i32\.const (\d+)\)/.exec(elements[0]));
  const ids = elements[0].slice(before.length).match(new RegExp(ID, 'g')) ?? [];
  return { id: idOf(table), start: Number(start), ids };
}

/**
 * The functions that others call, and those that these call.
 *
 * @param {ReadonlyMap<string, string>} functions
 * @param {readonly string[]} roots
 */
function reachable(functions, roots) {
  /** @type {Set<string>} */
  const reached = new Set();
  const waiting = [...roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const body = functions.get(id);
    if (body !== undefined && !reached.has(id)) {
      reached.add(id);
      waiting.push(...callsOf(body));
    }
  }
  return reached;
}

/** @param {string} body */
const callsOf = (body) => Array.from(body.matchAll(CALL), ([, called, referred]) => called ?? referred);

/**
 * The functions and objects of the primary module that the secondary one uses, each with a short name and with its
 * type as an import has it.
 *
 * @param {readonly string[]} items
 * @param {ReadonlyMap<string, string>} functions
 * @param {readonly string[]} secondary
 */
function sharedItems(items, functions, secondary) {
  const bodies = secondary.map((id) => functions.get(id) ?? '');
  const used = new Set([
    ...bodies.flatMap((body) => [...callsOf(body), ...Array.from(body.matchAll(GLOBAL), ([, id]) => id)]),
    ...items.filter((item) => ['memory', 'table'].includes(kindOf(item))).map(idOf),
  ]);
  return items
    .filter((item) => ['func', 'global', 'memory', 'table', 'import'].includes(kindOf(item)))
    .filter((item) => used.has(idOf(item)) && !secondary.includes(idOf(item)))
    .map((item, index) => ({ name: index.toString(36), ...typeOf(item), id: idOf(item) }));
}

/**
 * The kind of a definition, and its type as an import has it: a global without its value, a function without its body.
 *
 * @param {string} item
 */
function typeOf(item) {
  const kind = kindOf(item);
  const id = idOf(item);
  switch (kind) {
    case 'func':
      return { kind, type: `(func ${id} ${signatureOf(item.split('\n', 1)[0])})` };
    case 'import':
      return { kind: 'func', type: `(func ${id} ${signatureOf(item)})` };
    case 'global':
      return {
        kind,
        type: `(global ${id} ${/\(mut \w+\)|[if]\d+/.exec(item.slice(item.indexOf(id) + id.length))?.[0]})`,
      };
    default:
      return { kind, type: item };
  }
}

/**
 * The parameters and results of a function, without the names of its parameters.
 *
 * @param {string} head
 */
function signatureOf(head) {
  const types = head.slice(head.indexOf(idOf(head)) + idOf(head).length).match(/\((?:param|result)[^()]*\)/g) ?? [];
  return types.map((type) => type.replace(/\$\S+ /g, '')).join(' ');
}
