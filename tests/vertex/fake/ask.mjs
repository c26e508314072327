// Asking a fake: one engine, one token.

const ENGINE = 'projects/shop/locations/us-central1/reasoningEngines/77';

/** The name of the engine that is asked, with the number of its project. */
export const NUMBERED = ENGINE.replace('shop', '1234567');

/** What a fake is made with, so that its answers name `NUMBERED`. */
export const PROJECTS = { shop: '1234567' };

/** The address of a path: below the engine, or whole from `projects/` on. */
export function addressOf(path, version = 'v1beta1') {
  const whole = path.startsWith('projects/') ? path : `${ENGINE}${path}`;
  return `https://us-central1-aiplatform.googleapis.com/${version}/${whole}`;
}

/**
 * A function that asks: `ask('GET /sessions/s', body)` answers `{ status, headers, text, body }`. A text is sent as it
 * is, anything else as JSON.
 */
export function asker(vertex, { token = 'any', version, ...others } = {}) {
  return async (line, body, init = {}) => {
    const [method, path] = line.split(/ (.*)/s);
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...init.headers };
    const response = await vertex.fetch(addressOf(path, version), { method, ...sent, ...others, ...init, headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}
