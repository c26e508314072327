// A Gemini without a network: a server that speaks as much of its HTTP interface as ADK's model uses.

import { createServer } from 'node:http';

/**
 * Starts it. Each request is answered with `answer(request)`, a text; asked to stream, with the two halves of it.
 * Answers `{ url, requests, stop }`, the requests being all that it got so far, as JSON.
 *
 * @param {(request: any) => string} answer
 */
export async function startGemini(answer) {
  /** @type {any[]} */
  const requests = [];
  const server = createServer(async (message, response) => {
    const request = JSON.parse((await message.toArray()).join(''));
    requests.push(request);
    const text = answer(request);
    const half = Math.ceil(text.length / 2);
    const said = (/** @type {string} */ part, /** @type {string} */ finishReason) =>
      JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: part }] }, finishReason }] });
    const streams = message.url?.includes(':streamGenerateContent');
    response.setHeader('Content-Type', streams ? 'text/event-stream' : 'application/json');
    const parts = streams ? [said(text.slice(0, half)), said(text.slice(half), 'STOP')] : [said(text, 'STOP')];
    for (const part of parts) response.write(streams ? `data: ${part}\n\n` : part);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const stop = () => new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${port}`, requests, stop };
}
