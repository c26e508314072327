// The commands, in the order of the help.

import { exportCommand } from './commands/export.js';
import { importCommand } from './commands/import.js';
import { render } from './commands/render.js';
import { serve } from './commands/serve.js';
import { inspect } from './commands/inspect.js';
import { show } from './commands/show.js';
import { sweep } from './commands/sweep.js';
import { verify } from './commands/verify.js';
import type { Command } from './command.js';

/** All commands. */
export const COMMANDS: readonly Command[] = [
  serve,
  show,
  inspect,
  exportCommand,
  importCommand,
  render,
  verify,
  sweep,
];
