/** Keys in Redis, by `ioredis`, as the store has them: one script, which is one transaction. */

import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { rawService } from './service.mjs';

const SCRIPT = `
local app, appLog, list, user, userLog, userList, session, events, times, ids = unpack(KEYS)
local rev, id, time, data, mark, member = unpack(ARGV)
for index, scope in ipairs({ app, user }) do
  redis.call('HSET', scope, '@', rev, 'm', mark, ARGV[5 + 2 * index], rev .. ':' .. ARGV[6 + 2 * index])
end
redis.call('ZADD', appLog, rev, '+' .. ARGV[7])
redis.call('ZADD', userLog, rev, '+' .. ARGV[9])
redis.call('ZADD', ids, rev, '=' .. id)
redis.call('RPUSH', events, '=' .. data)
redis.call('RPUSH', times, time)
redis.call('HSET', session, 'r', rev, 't', time, 'a', rev, 'u', rev, ARGV[11], rev .. ':' .. ARGV[12])
redis.call('ZADD', list, time, member)
redis.call('ZADD', userList, time, member)
return { rev }
`;

/** A service over keys of a server that begin with a prefix. */
export function rawRedis(url, prefix) {
  const client = new Redis(url);
  client.defineCommand('append', { numberOfKeys: 10, lua: SCRIPT });
  const write = ({ session: { number, rev, id: member }, id, time, data, values: { session, user, app } }) => {
    const of = (names, base) => names.map((name) => `${prefix}:${base}:${name}`);
    const keys = [
      ...of(['a', 'l', 'z'], 'app'),
      ...of(['a', 'l', 'z'], `user-${number}`),
      ...of(['s', 'e', 't', 'i'], `session-${number}`),
    ];
    return client.append(...keys, rev, id, time, data, randomUUID(), member, ...app[0], ...user[0], ...session[0]);
  };
  return {
    connect: () => rawService({ open: async () => {}, create: async () => {}, write }),
    close: () => client.quit(),
  };
}
