// A client and the server behind it in one process: requests are passed on without a network.

import { connect } from 'statepad/client';
import { serve } from 'statepad/serve';

/** @typedef {(address: string, init: RequestInit) => Promise<Response>} Fetch */

/**
 * A `fetch` that a handler answers.
 *
 * @param {(request: Request) => Promise<Response>} handler @returns {Fetch}
 */
export const fetchOf = (handler) => async (address, init) =>
  await handler(new Request(address, { ...init, ...(init.body && { duplex: 'half' }) }));

/**
 * The handler of a service that anybody may use, with a short pause between two streams.
 *
 * @param {import('statepad').SessionService} service
 * @param {Partial<import('statepad/serve').ServeOptions>} [options]
 */
export const handlerOf = (service, options) =>
  serve(service, { ...(options?.authorize === undefined && { insecure: true }), retry: 100, ...options });

/**
 * A client of a service. It has short pauses between attempts.
 *
 * @param {import('statepad').SessionService} service
 * @param {Partial<import('statepad/client').ConnectOptions>} [options]
 * @param {Partial<import('statepad/serve').ServeOptions>} [serving] the options of its server
 */
export const clientOf = (service, options, serving) =>
  connect({
    url: 'http://host',
    fetch: fetchOf(handlerOf(service, serving)),
    retry: { pause: 1, attempts: 100 },
    ...options,
  });

/**
 * A client of a handler, what was asked (`requests`), and how many streams there were and are (`counts`). `cutAfter`
 * says after how many bytes a stream breaks.
 *
 * @param {(request: Request) => Promise<Response>} handler
 * @param {Partial<import('statepad/client').ConnectOptions> & { cutAfter?: () => number }} [options]
 */
export function countingClient(handler, { cutAfter = () => Infinity, ...options } = {}) {
  const counts = { connections: 0, open: 0, most: 0 };
  /** @type {{ address: string, method: string, headers: Record<string, string> }[]} */
  const requests = [];
  const fetch = async (/** @type {string} */ address, /** @type {RequestInit} */ init) => {
    const request = new Request(address, { ...init, ...(init.body && { duplex: 'half' }) });
    requests.push({ address, method: request.method, headers: Object.fromEntries(request.headers) });
    const response = await handler(request);
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    counts.connections += 1;
    counts.open += 1;
    counts.most = Math.max(counts.most, counts.open);
    const reader = response.body.getReader();
    let left = cutAfter();
    let isOpen = true;
    const close = () => {
      counts.open -= isOpen ? 1 : 0;
      isOpen = false;
    };
    const body = new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          close();
          return controller.close();
        }
        const bytes = hurried(value);
        if (bytes.length >= left) {
          controller.enqueue(bytes.slice(0, left));
          await reader.cancel();
          close();
          return controller.close();
        }
        left -= bytes.length;
        controller.enqueue(bytes);
      },
      async cancel() {
        close();
        await reader.cancel();
      },
    });
    init.signal?.addEventListener('abort', () => {
      close();
      reader.cancel().catch(() => {});
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };
  return { client: connect({ url: 'http://host', fetch, ...options }), counts, requests };
}

/**
 * The bytes of a handler, with the shortest pause between two connections.
 *
 * @param {Uint8Array} bytes
 */
export const hurried = (bytes) =>
  new TextEncoder().encode(new TextDecoder().decode(bytes).replace('retry: 100\n', 'retry: 1\n'));
