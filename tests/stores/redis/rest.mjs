// The REST protocol of Upstash in front of a redis-server, as the client of `@upstash/redis` speaks it.

import { createServer } from 'node:http';
import { Redis } from 'ioredis';

/** Serves the Redis of `url`. Answers where, with which token, and a function that stops it. */
export async function serveRest(url) {
  const redis = new Redis(url);
  const token = 'test-token';
  const requests = [];
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      return void send(response, 401, { error: 'WRONGPASS invalid or missing auth token' });
    }
    const [path, ...rest] = decodeURIComponent(request.url).slice(1).split('/');
    requests.push(`/${path}`);
    const encode = request.headers['upstash-encoding'] === 'base64' ? inBase64 : asText;
    if (path === 'subscribe') return void listen(url, rest.join('/'), response);
    const body = JSON.parse(await textOf(request));
    if (path === 'pipeline') {
      const answers = await Promise.all(body.map((command) => run(redis, command, encode)));
      return void send(response, 200, answers);
    }
    const answer = await run(redis, body, encode);
    send(response, 'error' in answer ? 400 : 200, answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    redis.disconnect();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, token, requests, stop };
}

async function run(redis, command, encode) {
  try {
    return { result: encode(await redis.callBuffer(...command.map(String))) };
  } catch (error) {
    return { error: error.message };
  }
}

/** Upstash writes texts and the texts in lists in Base64, but for the status OK. */
function inBase64(reply) {
  if (Array.isArray(reply)) return reply.map(inBase64);
  if (!Buffer.isBuffer(reply)) return reply;
  return reply.equals(Buffer.from('OK')) ? 'OK' : reply.toString('base64');
}

function asText(reply) {
  if (Array.isArray(reply)) return reply.map(asText);
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : reply;
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Server-sent events: what was subscribed to, then every message. */
function listen(url, channel, response) {
  const subscriber = new Redis(url);
  response.on('close', () => subscriber.disconnect());
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  subscriber.on('message', (from, message) => response.write(`data: message,${from},${message}\n\n`));
  subscriber.subscribe(channel).then(
    (count) => response.write(`data: subscribe,${channel},${count}\n\n`),
    () => response.end(),
  );
}
