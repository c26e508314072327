// The accidents of files under a running process, and their remedies.

import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** The path of a file that was moved away; it keeps a second name there. */
const away = (path) => `${path}.away`;

/** Each takes a path; `told` is what the error says of the file. */
export const moves = {
  renamed: {
    move: (path) => renameSync(path, away(path)),
    back: (path) => renameSync(away(path), path),
    told: /sessions\.\w+" was renamed or deleted/,
  },
  deleted: {
    move: (path) => {
      linkSync(path, away(path));
      rmSync(path);
    },
    back: (path) => renameSync(away(path), path),
    told: /sessions\.\w+" was renamed or deleted/,
  },
  replaced: {
    move: (path) => {
      linkSync(path, away(path));
      writeFileSync(`${path}.new`, '');
      renameSync(`${path}.new`, path);
    },
    back: (path) => renameSync(away(path), path),
    told: /sessions\.\w+" was replaced by another file/,
  },
  'taken away with its folder': {
    move: (path) => renameSync(dirname(path), away(dirname(path))),
    back: (path) => renameSync(away(dirname(path)), dirname(path)),
    told: /sessions\.\w+" was renamed or deleted/,
  },
  'left in a folder of another name, where a new one took its place': {
    move: (path) => {
      renameSync(dirname(path), away(dirname(path)));
      mkdirSync(dirname(path));
      writeFileSync(path, '');
    },
    back: (path) => {
      rmSync(dirname(path), { recursive: true });
      renameSync(away(dirname(path)), dirname(path));
    },
    told: /sessions\.\w+" was replaced by another file/,
  },
};
