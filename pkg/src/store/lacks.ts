// The abilities that a store lacks over foreign storage.

/**
 * An ability that a store lacks because the storage behind it was made by others, and what is true in its place:
 *
 * - `revisions`: no revisions and positions are stored. A revision is the number of events, and another one under the
 *   same number shows by its id (`Loaded.last`, `Loaded.diverged`). A position is the store's own, and differs when
 *   values do.
 * - `order`: events are in the order of their times, and of their ids where times are equal.
 * - `texts`: events and values are returned and compared as equal JSON, with names and members in any order. One with
 *   the character NUL may be `rejected`.
 * - `ids`: an id or a name that the storage cannot keep is `rejected`.
 * - `times`: times are dates of the years 1 to 9999, to the microsecond.
 * - `clock`: the time of a session is the storage's own.
 * - `created`: `created` is not the id of the change that made the session.
 * - `beginnings`: the initial state of a session is not stored.
 * - `repeats`: an update that is sent again is made again, unless an earlier attempt of the same call was made.
 * - `scopes`: values of an app and of a user are written and read only with one of their sessions.
 * - `operators`: no operator can be stored beside its result.
 * - `sizes`: `StoreLimits` are compared with the sizes of another form of names and values than their JSON text.
 */
export type StoreLack =
  | 'revisions'
  | 'order'
  | 'texts'
  | 'ids'
  | 'times'
  | 'clock'
  | 'created'
  | 'beginnings'
  | 'repeats'
  | 'scopes'
  | 'operators'
  | 'sizes';
