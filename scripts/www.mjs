// Serves the built page on this machine until it is stopped: `npm run www`, and the end of `npm start`.

import { preview } from 'vite';
import { page } from './page.mjs';

// Another free port is taken when the usual one is not free.
const server = await preview({ ...page, preview: { host: '127.0.0.1', port: 4173, strictPort: false } });
console.log(
  `\nthe page: ${server.resolvedUrls?.local[0] ?? 'not served'}\n(Ctrl+C stops serving; a later npm run www serves it again)`,
);
