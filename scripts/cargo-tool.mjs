// Builds a tool that comes from crates.io, where it is not there at its version.

import { run } from './run.mjs';
import { cargoRoot, cargoTools, versionOf } from './tools.mjs';

/**
 * Installs one of the `cargoTools`, and says so.
 *
 * @param {keyof typeof cargoTools} name
 */
export function needCargoTool(name) {
  /** @type {import('./tools.mjs').CargoTool} */
  const tool = cargoTools[name];
  if (versionOf(name, tool.ask) === `${name} ${tool.version}`) return;
  console.log(`setup: building ${tool.crate} ${tool.version}, once, which takes about two minutes`);
  run('cargo', [
    'install',
    tool.crate,
    '--version',
    tool.version,
    ...tool.flags,
    '--root',
    cargoRoot(tool),
    '--quiet',
  ]);
}
