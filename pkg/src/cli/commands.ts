// The commands, in the order of the help.

import { serve } from './commands/serve.js';
import { inspect } from './commands/inspect.js';
import { show } from './commands/show.js';
import type { Command } from './command.js';

/** All commands. */
export const COMMANDS: readonly Command[] = [serve, show, inspect];
