// Vite's settings for the page: static files that open from any path of any server.

import { join } from 'node:path';
import { root } from './tools.mjs';

/** @type {import('vite').InlineConfig} */
export const page = {
  configFile: false,
  root: join(root, 'www'),
  base: './',
  logLevel: 'warn',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    // One script by design, which a browser keeps: see below.
    chunkSizeWarningLimit: 1200,
    modulePreload: { polyfill: false },
    // One script: nothing is left to be loaded when there is no network any more.
    rolldownOptions: { output: { codeSplitting: false } },
  },
};
