// A network that loses requests and answers, and delivers requests late: in one process, the same way for each seed.

import { numbersFrom } from './random.js';

/**
 * The possible fates of a request, each with its frequency of a hundred. The rest arrives, and its answer too.
 *
 * @type {Record<string, number>}
 */
const FATES = {
  /** It never arrives. */
  lost: 8,
  /** It arrives, and its answer gets lost. */
  unanswered: 12,
  /** Its answer breaks off in the middle. */
  cut: 8,
  /** A proxy answers in the place of the server, which has got the request all the same. */
  'proxy after': 4,
  /** A proxy answers, and passes nothing on. */
  'proxy before': 4,
  /** The client is told that it got lost, and it arrives later: perhaps after it was sent again. */
  delayed: 6,
};

/**
 * A `fetch` over another one. `told` counts what became of the requests; `settled` waits until no delayed request is
 * on its way.
 *
 * @param {(address: string, init: RequestInit) => Promise<Response>} fetch @param {number} seed
 */
export function lossyFetch(fetch, seed) {
  const below = numbersFrom(seed);
  /** @type {Record<string, number>} */
  const told = {};
  /** @type {Set<Promise<unknown>>} */
  const late = new Set();
  const fateOf = () => {
    let left = below(100);
    for (const [fate, share] of Object.entries(FATES)) {
      if (left < share) return fate;
      left -= share;
    }
    return 'answered';
  };
  const soon = () => new Promise((resolve) => setTimeout(resolve, below(4)));
  const failed = () => new TypeError('fetch failed');
  const proxy = () => new Response('<h1>Bad Gateway</h1>', { status: 502 });
  /** Without its signal: nothing calls back a request that is on its way. */
  const sent = (/** @type {string} */ address, /** @type {RequestInit} */ init) =>
    fetch(address, { ...init, signal: null });

  /** @type {typeof fetch} */
  const lossy = async (address, init) => {
    const fate = fateOf();
    told[fate] = (told[fate] ?? 0) + 1;
    await soon();
    switch (fate) {
      case 'lost':
        throw failed();
      case 'proxy before':
        return proxy();
      case 'delayed': {
        const arriving = soon()
          .then(soon)
          .then(() => sent(address, init))
          .then((response) => response.body?.cancel())
          .catch(() => undefined)
          .finally(() => late.delete(arriving));
        late.add(arriving);
        throw failed();
      }
      default: {
        const response = await sent(address, init);
        if (fate === 'unanswered') {
          await response.body?.cancel();
          throw failed();
        }
        if (fate === 'proxy after') return proxy();
        return fate === 'cut' && response.status !== 204 ? await cutOff(response, below) : response;
      }
    }
  };
  const settled = async () => {
    while (late.size > 0) await Promise.all([...late]);
  };
  return { fetch: lossy, told, settled };
}

/** @param {Response} response @param {(limit: number) => number} below */
async function cutOff(response, below) {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, below(bytes.length)));
      controller.error(new TypeError('terminated'));
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
