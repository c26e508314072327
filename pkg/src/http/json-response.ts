// Answers that are JSON, whose text is known without reading it back from their bodies.

const texts = new WeakMap<Response, string>();

/** As `Response.json`. */
export function jsonResponse(value: unknown, { status = 200, headers }: ResponseInit = {}): Response {
  const text = JSON.stringify(value);
  const all = new Headers(headers);
  if (!all.has('content-type')) {
    all.set('content-type', 'application/json');
  }
  const response = new Response(text, { status, headers: all });
  texts.set(response, text);
  return response;
}

/** The text of the body of an answer that {@link jsonResponse} has made, and nobody has read. */
export function textOf(response: Response): string | undefined {
  return response.bodyUsed ? undefined : texts.get(response);
}
