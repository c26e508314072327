// Lets the page be reloaded without a network: what the network gives is kept, and taken from there when it gives
// nothing.

const KEPT = 'statepad-page';
/** So many files are kept: more are of builds that are gone. */
const MOST = 12;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'GET' && new URL(request.url).origin === self.location.origin)
    event.respondWith(answer(request));
});

async function answer(request) {
  const kept = await caches.open(KEPT);
  try {
    const response = await fetch(request);
    if (response.ok) {
      await kept.put(request, response.clone());
      const [oldest, ...others] = await kept.keys();
      if (others.length >= MOST) await kept.delete(oldest);
    }
    return response;
  } catch (error) {
    const found = await kept.match(request, { ignoreSearch: request.mode === 'navigate' });
    if (found) return found;
    throw error;
  }
}
