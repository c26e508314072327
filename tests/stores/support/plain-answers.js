// Answers of stores as texts: equal where the contract asks for the same. It runs in pages and workers, too.

/** The members that have a value. */
export const defined = (members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** With everything in its order, and errors as what is known by them; without what is told by a clock. */
export function plain(answer, isLogged) {
  return JSON.stringify(answer, (member, given) => {
    const value = optionalLast(given);
    if (value instanceof Map) return [...value];
    if (value instanceof Error) {
      const { code, message, actual, key, scope, digest, exceeded } = value;
      const sizes = exceeded && { exceeded, size: value.size, limit: value.limit };
      return { refused: code ?? message, actual, key, scope, digest, ...sizes };
    }
    if (member === 'results' && value) return canonical(value);
    if (member === 'until') return undefined;
    if (member === 'expires') return clockless(value);
    // Only some stores know the revision of the first update, or of the creation, and the changes since then.
    if (value?.duplicate) return defined({ ...value, changed: undefined, ...(!value.data && { results: undefined }) });
    if (value?.writes) return { ...value, time: clockless(value.time), writes: byName(value.writes) };
    if (value?.data !== undefined && 'pos' in value && !value.duplicate && !isLogged)
      return { ...value, pos: undefined };
    return value;
  });
}

/** The members of an answer or an event, which stores make in any order. */
function optionalLast(value) {
  if (!value?.results && !value?.expires) return value;
  const { results, expires, ...rest } = value;
  return { ...rest, results, expires };
}

/** Values by scope, whatever their order. */
function canonical(results) {
  const sorted = (given, map) =>
    Object.keys(given)
      .sort()
      .map((name) => [name, map(given[name])]);
  return sorted(results, (values) => sorted(values, (value) => value));
}

/** The times of changes, and one for those of clocks. */
function clockless(time) {
  return time > 1e12 && time < 1e14 ? 'clock' : time;
}

/** Names like numbers come first in records, and only there. */
function byName(writes) {
  return [...writes].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ name, from, to }) => ({ name, from, to }));
}
