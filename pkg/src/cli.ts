#!/usr/bin/env node
// The command line: `npx statepad`. It loads a command when it runs it, so that help comes at once.

import { main } from './cli/main.js';

await main(import.meta.url);
