// Starts the page.

import './page.css';
import './page.js';
import { prepareFiles } from './files/files.js';

// What is loaded once works without a network. Where there are no service workers, only reloading needs one.
if ('serviceWorker' in navigator && location.protocol !== 'file:') {
  navigator.serviceWorker.register('./offline.js').catch(() => undefined);
  // Also what is loaded later: it goes through the service worker once that is in charge.
  if (navigator.serviceWorker.controller !== null) {
    prepareFiles().catch(() => undefined);
  }
}
