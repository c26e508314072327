// One connection of HTTP that stays open, for one request at a time. It does no more than is needed to know when an
// answer is complete: what is measured is the server.

import { connect } from 'node:net';

const BLANK = Buffer.from('\r\n\r\n');

/** A connection to a server on this machine. One that the server has closed is opened again. */
export function openConnection(url) {
  const { hostname, port, host } = new URL(url);
  let received = Buffer.alloc(0);
  let waiting;
  const settle = (method, value) => {
    const { [method]: settled } = waiting ?? {};
    waiting = undefined;
    settled?.(value);
  };
  const open = () => {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true });
    received = Buffer.alloc(0);
    opened.on('data', (piece) => {
      received = received.length === 0 ? piece : Buffer.concat([received, piece]);
      const answer = completeIn(received);
      if (answer !== undefined) {
        received = Buffer.alloc(0);
        if (answer.isLast) opened.destroy();
        settle('resolve', answer);
      }
    });
    opened.on('error', (error) => settle('reject', error));
    opened.on('close', () => opened === socket && settle('reject', new Error('the connection was closed')));
    return opened;
  };
  let socket = open();
  /** Resolves with the status and the text of the body. */
  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) socket = open();
      waiting = { resolve, reject };
      const text = JSON.stringify(body);
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nx-goog-api-key: token\r\n`;
      socket.write(
        `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
    });
  return { send, close: () => socket.destroy() };
}

/** The answer in what was received, once it is complete. */
function completeIn(received) {
  const end = received.indexOf(BLANK);
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  const body = received.subarray(end + BLANK.length);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const isWhole =
    length === undefined ? body.subarray(-7).toString('latin1').endsWith('0\r\n\r\n') : body.length >= Number(length);
  const isLast = /\r\nconnection: *close/i.test(head);
  return isWhole ? { status: Number(head.slice(9, 12)), text: body.toString(), isLast } : undefined;
}
