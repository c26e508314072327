// A handler that the checks of served.mjs are for. Programs in hosts get a copy of this file.

import { serve } from 'statepad/serve';

/** The streams that a principal may have: few, so that one which the host never ends takes the place of another. */
export const STREAMS = 2;

const ana = { id: 'ana', apps: ['tutor'], users: ['ana'] };
const principals = new Map([
  ['s3cret', ana],
  ['other', { ...ana, id: 'other' }],
]);

/** The creations of sessions in this program. */
const counts = { begun: 0, ended: 0 };

/**
 * Serves a service. Two tokens are none of clients: `closer` closes the handler, and `counter` gets how many creations
 * of sessions have begun, and how many have ended.
 */
export function handlerOver(service, options) {
  const authorize = (request) => {
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    if (token === 'closer') void handler.close();
    if (token === 'counter') return Response.json(counts);
    if (request.method === 'POST' && request.url.endsWith('/sessions')) counts.begun += 1;
    return principals.get(token);
  };
  const onRequest = ({ operation }) => {
    if (operation === 'createSession') counts.ended += 1;
  };
  const handler = serve(service, { authorize, onRequest, limits: { streams: STREAMS }, ...options });
  return handler;
}
