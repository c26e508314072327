// Asking a server of the API: one engine, one token.

/** The engine that is asked, by the id of its project. */
export const ENGINE = 'projects/shop/locations/us-central1/reasoningEngines/77';

/** The projects of a fake, so that its answers name `LOCATION`. */
export const PROJECTS = { shop: '1234567' };

/** The location of the engine in answers, by the number of the project, and the sessions of the engine. */
export const LOCATION = 'projects/1234567/locations/us-central1';
export const SESSIONS = `${LOCATION}/reasoningEngines/77/sessions`;

/** The address of a path: below the engine, or whole from `projects/` or `reasoningEngines/` on. */
export function addressOf(path, version = 'v1beta1') {
  const whole = /^(projects|reasoningEngines)\//.test(path) ? path : `${ENGINE}${path}`;
  return `https://us-central1-aiplatform.googleapis.com/${version}/${whole}`;
}

/**
 * A function that asks: `ask('GET /sessions/s', body)` answers `{ status, headers, text, body }`. A text is sent as it
 * is, anything else as JSON.
 */
export function asker(vertex, { token = 'any', version } = {}) {
  return async (line, body, init = {}) => {
    const [method, path] = line.split(/ (.*)/s);
    const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const headers = {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await vertex.fetch(addressOf(path, version), { method, headers, ...sent, ...init });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** Makes a session of ann's with an id. */
export async function makeSession(ask, id, session = {}) {
  return await ask(`POST /sessions?sessionId=${id}`, { userId: 'ann', ...session });
}

/** Appends an event to a session. */
export async function append(ask, id, event = {}, init = {}) {
  const required = { author: 'user', invocationId: 'i1', timestamp: '2026-01-01T00:00:00Z' };
  return await ask(`POST /sessions/${id}:appendEvent`, { ...required, ...event }, init);
}
