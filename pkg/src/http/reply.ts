// Answers before they are a `Response`: of one that is JSON the text is known, and Node sends that as it is. To make a
// `Response` with a body, and to read the body back, takes longer than most answers.

/** An answer that is JSON. */
export class JsonReply {
  readonly status: number;
  /** Under lower-case names. */
  readonly headers: Map<string, string>;
  readonly text: string;

  constructor(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.headers = new Map(Object.entries({ 'content-type': 'application/json', ...headers }));
    this.text = JSON.stringify(value);
  }
}

/** An answer. */
export type Reply = Response | JsonReply;

/** An answer as a `Response`. */
export function responseOf(reply: Reply): Response {
  if (reply instanceof JsonReply) {
    const { status, headers, text } = reply;
    return new Response(text, { status, headers: [...headers] });
  }
  return reply;
}
