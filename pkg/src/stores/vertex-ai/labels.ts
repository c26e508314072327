// The label under which a session keeps the id of the change that created it: a creation whose answer was lost is
// known by it.

/** The key of the label. */
export const CREATION_LABEL = 'statepad-creation';

/** The greatest length of a label's value. */
const MAX_LENGTH = 63;

/**
 * The id of a change as the value of a label, which takes lower-case letters, digits, `_` and `-`: an id of these is
 * itself, what else is in it stands between underscores as the number of its UTF-16 unit. `undefined` when it is too
 * long.
 */
export function labelOf(id: string): string | undefined {
  const label = id.replace(/[^a-z0-9-]/g, (unit) => `_${unit.charCodeAt(0).toString(16)}_`);
  return label.length > 0 && label.length <= MAX_LENGTH ? label : undefined;
}

/** The id that a label says. */
export function idIn(label: string): string {
  return label.replace(/_([0-9a-f]{1,4})_/g, (_, unit: string) => String.fromCharCode(parseInt(unit, 16)));
}
