// Starts the page.

import './page.css';
import './page.js';
import { prepareFiles } from './files/files.js';

// Loaded resources work offline. Without service workers, only a reload needs the network.
if ('serviceWorker' in navigator && location.protocol !== 'file:') {
  navigator.serviceWorker.register('./offline.js').catch(() => undefined);
  // Resources that are loaded later, too: they go through the service worker once it is active.
  if (navigator.serviceWorker.controller !== null) {
    prepareFiles().catch(() => undefined);
  }
}
