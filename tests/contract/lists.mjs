// The sessions of list.json, and what a list shows of them.

/** Makes the sessions, in this order, each with one event at its time. */
export async function makeSessions(service, sessions) {
  for (const [userId, sessionId, timestamp] of sessions) {
    const session = await service.createSession({ appName: 'app', userId, sessionId, state: { at: 0 } });
    const actions = {
      stateDelta: { at: timestamp },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    };
    await service.appendEvent({ session, event: { id: 'e', invocationId: 'i', author: 'a', timestamp, actions } });
  }
}

/** The sessions of a page, each as user/id. */
export function listed({ sessions }) {
  return sessions.map(({ userId, id }) => `${userId}/${id}`);
}

/** All pages from the first one on, by their cursors. */
export async function followed(service, request) {
  const pages = [];
  let cursor;
  do {
    const page = await service.listSessions(cursor === undefined ? request : { ...request, cursor });
    pages.push(listed(page));
    ({ cursor } = page);
  } while (cursor !== undefined && pages.length < 100);
  return pages;
}
