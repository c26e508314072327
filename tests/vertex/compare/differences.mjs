// The differences between two recordings, field by field, and their comparison with a list of differences.

/** The path of a request that only one recording has. */
const REQUEST = '(request)';

/**
 * All differences: `{ step, call, path, theirs, ours }`. The requests of a step with one call are compared in order.
 */
export function differencesOf(theirs, ours) {
  return Object.keys(ours).flatMap((step) => {
    const calls = new Set([...theirs[step], ...ours[step]].map(({ call }) => call));
    return [...calls].flatMap((call) => {
      const [left, right] = [theirs, ours].map((recorded) =>
        recorded[step].filter((request) => request.call === call),
      );
      const pairs = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => [
        left[index],
        right[index],
      ]);
      return pairs.flatMap(([one, other]) =>
        fieldsThatDiffer(one, other).map((difference) => ({ step, call, ...difference })),
      );
    });
  });
}

function fieldsThatDiffer(theirs, ours) {
  if (theirs === undefined || ours === undefined) {
    return [{ path: REQUEST, theirs: theirs && 'sent', ours: ours && 'sent' }];
  }
  const [left, right] = [fieldsOf(theirs), fieldsOf(ours)];
  return [...new Set([...left.keys(), ...right.keys()])]
    .filter((path) => left.get(path) !== right.get(path) && !isOpened(path, left, right))
    .map((path) => ({ path, theirs: left.get(path), ours: right.get(path) }));
}

/**
 * Returns true if a record that is empty in one request has members in the other, which are compared by themselves.
 */
function isOpened(path, ...sides) {
  return sides.some((fields) => [...fields.keys()].some((other) => other.startsWith(`${path}.`)));
}

/** The values of a request as texts, by their path. */
function fieldsOf(value, path = '', fields = new Map()) {
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  if (isEmpty) {
    fields.set(path, JSON.stringify(value));
  } else {
    for (const [name, member] of Object.entries(value)) {
      fieldsOf(member, path === '' ? name : `${path}.${name}`, fields);
    }
  }
  return fields;
}

/**
 * Holds differences against a list: `{ step?, call?, path, reason }`, where a step or call that is absent means all,
 * and a `*` in a path any rest. Answers those that are not listed, and the lines of the list that mean nothing.
 */
export function against(differences, listed) {
  const means = (line, { step, call, path }) =>
    (line.step === undefined || line.step === step) &&
    (line.call === undefined || line.call === call) &&
    (line.path.endsWith('*') ? path.startsWith(line.path.slice(0, -1)) : path === line.path);
  return {
    unlisted: differences.filter((difference) => !listed.some((line) => means(line, difference))),
    idle: listed.filter((line) => !differences.some((difference) => means(line, difference))),
  };
}
