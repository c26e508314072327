// The cases and random histories of the store in Redis, on Valkey; and what the store does when rights are taken away,
// as Valkey has other words for that.

import { other, passOver } from './installed.mjs';

passOver(
  other,
  ['redis', 'random', 'rights', 'server'].map((name) => `redis/${name}.test.mjs`),
);
