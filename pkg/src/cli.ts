#!/usr/bin/env node
// The command line: `npx statepad`. It loads a command when it runs it, so that help comes at once.

import { main } from './cli/main.js';

// Not awaited: with an `await` in an entry the bundler splits all files of the package in another way.
void main(import.meta.url);
