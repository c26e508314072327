// The files of the inspector beside the routes. They are data: no path of a request reaches a file system.

import { JsonReply, type Reply } from '../../http/reply.js';
import type { ErrorLog } from '../../http/answers.js';
import type { Incoming } from '../../http/incoming.js';
import type { Api, Call, Received } from '../api.js';
import type { InspectorFile, InspectorFiles } from './files.js';

const FOLDER = '/inspector';
/** The facts that the page asks for. */
const ABOUT = 'about.json';

/**
 * The inspector: its files for everyone, for they hold no data, and the facts about the server for those that the
 * server knows. By the answer 401 the page learns that it needs a token.
 */
export class InspectorApi implements Api {
  readonly #inspector: InspectorFiles;
  readonly #errors: ErrorLog;

  constructor(inspector: InspectorFiles, errors: ErrorLog) {
    this.#inspector = inspector;
    this.#errors = errors;
  }

  find(method: string, path: string): Call | readonly string[] | undefined {
    const call = this.#callOf(path);
    return call === undefined || method === 'GET' || method === 'HEAD' ? call : ['GET'];
  }

  refusal(error: unknown, request: Incoming): Reply {
    return this.#errors.answer(error, request);
  }

  #callOf(path: string): Call | undefined {
    if (path === FOLDER) {
      return publicCall(() => redirected(`${FOLDER.slice(1)}/`));
    }
    const name = path.startsWith(`${FOLDER}/`) ? path.slice(FOLDER.length + 1) : undefined;
    if (name === ABOUT) {
      return { operation: 'aboutInspector', answer: async (received) => await Promise.resolve(this.#about(received)) };
    }
    const file = name === undefined ? undefined : this.#inspector.files.get(name);
    return file && publicCall((request) => replyOf(file, request));
  }

  #about({ rights }: Received): Reply {
    const about = { store: this.#inspector.label, write: rights.writes('session'), base: '../' };
    return new JsonReply(about, 200, { 'cache-control': 'no-store' });
  }
}

/** A call that needs no principal. */
function publicCall(answer: (request: Incoming) => Reply): Call {
  const answerAnyone = async (request: Incoming): Promise<Reply> => await Promise.resolve(answer(request));
  return { operation: 'inspector', answerAnyone, answer: async ({ request }) => await answerAnyone(request) };
}

/** A relative address: a proxy may have the server below a path of its own. */
function redirected(location: string): Response {
  return new Response(null, { status: 308, headers: { location } });
}

function replyOf({ content, headers }: InspectorFile, request: Incoming): Response {
  const { etag } = headers;
  const isKnown = etag !== undefined && (request.headers.get('if-none-match') ?? '').split(/\s*,\s*/).includes(etag);
  if (isKnown) {
    const known = new Headers(headers);
    known.delete('content-length');
    return new Response(null, { status: 304, headers: known });
  }
  return new Response(content as Uint8Array<ArrayBuffer>, { headers });
}
