/** Templates as plain JavaScript would do them. */

const PLACEHOLDER = /\{((?:app:|user:|temp:)?[\p{ID_Start}_][\p{ID_Continue}]*)(\?)?\}/gu;

/** Compiles a template to texts and keys. Answers with a function that renders it. */
export function compile(text) {
  const segments = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    segments.push(text.slice(end, match.index), { key: match[1], optional: match[2] !== undefined });
    end = match.index + match[0].length;
  }
  segments.push(text.slice(end));
  return (state) => {
    let out = '';
    for (const segment of segments) {
      out += typeof segment === 'string' ? segment : valueText(segment, state);
    }
    return out;
  };
}

function valueText({ key, optional }, state) {
  if (!Object.hasOwn(state, key)) {
    if (optional) return '';
    throw new Error(`the key "${key}" is missing`);
  }
  const value = state[key];
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

const compiled = new Map();

/** The function of a text: compiled now, or one of the last 64. */
export function rendererOf(text) {
  let render = compiled.get(text);
  if (render === undefined) {
    render = compile(text);
    compiled.set(text, render);
    if (compiled.size > 64) compiled.delete(compiled.keys().next().value);
  }
  return render;
}

/** Compiles and renders at once, with the same context as ADK's function. */
export async function inject(text, { invocationContext }) {
  return rendererOf(text)(invocationContext.session.state);
}
