// The changes of processes that are killed.

/** The sessions, each in its turn. */
export const keys = ['a', 'b', 'c', 'd'].map((sessionId) => ({ appName: 'app', userId: 'user', sessionId }));

/** The text of an event, of very different lengths. */
export function payload(id) {
  const size = Number(id.split(' ')[1]) % 7 === 0 ? 20_000 : 50;
  return JSON.stringify({ id, text: `${id} é `.repeat(size) });
}
