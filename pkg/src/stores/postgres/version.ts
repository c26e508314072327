// The version of what lies in the database, and the codes of the errors that its statements raise by themselves.

/** The version of the schema that this package reads and writes. */
export const VERSION = 1;
/**
 * The fingerprint of what lies in a schema of this version, which may change until there is a release: the start of
 * the SHA-256 of the statements that make it.
 */
export const LAYOUT = 'cfd0368c';
/** The code of a refusal whose message says all. Postgres itself has no codes of this class. */
export const REFUSED = 'ZS001';
/** The code of a refusal of another version: the message names the schema, the detail is the version that it has. */
export const WRONG_VERSION = 'ZS002';
/** The code of a refusal of another layout: likewise, the detail being the fingerprint; empty where there is none. */
export const OTHER_LAYOUT = 'ZS003';
/** The code of a change that comes near a limit, which was not seen when it was sent: nothing is written. */
export const CROWDED = 'ZS004';
