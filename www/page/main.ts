// Starts the page.

import './page.css';
import './page.js';

// What is loaded once works without a network. Where there are no service workers, only reloading needs one.
if ('serviceWorker' in navigator && location.protocol !== 'file:') {
  navigator.serviceWorker.register('./offline.js').catch(() => undefined);
}
