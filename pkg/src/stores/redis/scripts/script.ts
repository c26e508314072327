// The scripts that run inside Redis: one for each operation, so that each is one round trip and sees one moment. Here
// are the keys that they work on; each file beside this one has the scripts of one operation.
//
// The keys of an app, all of them with its hash tag, so that they lie in one slot of a cluster (`../keys.ts`). A
// script gets all that it may write among its KEYS: Redis then refuses it as a whole while some of them are on another
// server.
//
//   :a              string   the version of the app, or the fence of an upgrade: every script looks at it first, and
//                            does nothing under another version
//   :app, :u:user   hash     the values of the app, of a user: `=name` is `order@position:JSON`, by the order of the
//                            first writing and the position of the last; `p` is the position, `m` its mark, `n` the
//                            last order, `s` the bytes of the names and the JSON texts (0 when absent), `b` the base
//                            of the log (0 when absent); of a user `w` the time of the last change
//   :moves, :m:user zset     the moves: what happened to the scope lately, by position: `@position=mark`, and the mark
//                            alone is missing where it is not known; `=name` was set; `-=name` came into being, or was
//                            deleted. Never empty when the position is not 0
//   :changes, :c:user  list  the log of the scope, unless the store keeps none: see `log.ts`
//   :s:member       hash     a session: its values, and `c` the creation, `r` the revision, `t` the time, `f` the
//                            revision of the first event where that is 0, the creation's; `a`, `u` the positions of
//                            the app and the user when it was last written to; `d` the digest of its creation, with
//                            a sign before it, if it had one; `s` the bytes as in a scope; of a session that expires
//                            `e` when, and `l` so long after each append, unless appends do not move it; of leases
//                            `k` the fencing token (0 when absent), `o` who holds it, `x` until when. These times
//                            are in milliseconds since the epoch, by the server's clock
//   :e:member       list     its events: `=` and the text; or `@`, the details beside it, a line feed, `=` and the
//                            text. Beside it are `app,user`, where the scopes were after it, when a log is kept, and
//                            as JSON what its operators came to, if it had any
//   :t:member       list     the time of each event and, where it is another one, the latest time so far
//   :i:member       zset     `=id` of each event by revision, but for the creation's: nothing is a duplicate of that
//   :sessions, :l:user  zset the members of the app, of a user, by time
//   :expiring, :x:user  zset those of them that expire, by when. They stay there, and in all other lists, until they
//                            are removed. The server's own EXPIRE is never used: such keys are the first that some
//                            servers drop when memory is short, whether they are over or not
//   :ids            zset     the members of the app, in the order of their bytes: the users of a session id follow
//                            each other there
//   :users          zset     `=user` of all users with a session or a value, in the order of their bytes
//   :updates        zset     the updates that were made, by when
//   :refused        zset     the calls that were refused after the first try, by when
//   :removed        zset     the removed sessions, each with its creation, by when
//   :notes          hash     what is kept beside them, by a letter and the id that these have: beside an update (`u`)
//                            `=`, or `@`, the JSON that is kept beside events, a line feed and `=`, and then the
//                            digest with a sign before it, if it had one; beside a refused call (`c`) and a removed
//                            session (`r`) the digest with its sign
//   :idle           zset     `=user` of the users who have values, and no session in `:l:user`, by `w`
//
// Some keys lie in other slots of a cluster. The version of all, `prefix:version`, is only looked at when opening.
// `prefix:apps` is a zset of `=app` in the order of the bytes: an app gets into it before the first key of it is made.
// `prefix:claim:name` is a hash with the claim of a name: `k`, `o` and `x` as in sessions, but for `o` that is empty
// where nobody has it.
//
// Redis takes nothing back when a script fails. So every change is first looked at, by reads that fail where a key is
// of another type, and then written by commands that cannot. When Redis refuses writes (no memory, a replica, a broken
// disk) it refuses the first one of a script: after that one it lets all of them through. Not so when a user has lost
// the right to a command: a script that needs several asks for all of them before it writes (`rights.ts`).

/** A script, and what it means that a key has a type that it should not have. */
export interface Script {
  readonly text: string;
  readonly onForeign: 'rejected' | 'corrupt';
}
