// The hosts under which a door answers, and the origins that may write through it.

import type { Incoming } from '../http/incoming.js';

/** The rules for the `Host` and the `Origin` of requests. */
export interface OriginRules {
  /** The names under which it answers, without ports; any when absent. */
  readonly hosts: readonly string[] | undefined;
  /** The origins of pages on other hosts that may send requests. */
  readonly origins: readonly string[];
}

/**
 * True when a request may be answered. A page of another origin can send requests from the browser of somebody who
 * may write: unless that origin is known, it may only read, and the browser hides the answer from it. A page that
 * has bound its own name to this machine's address (DNS rebinding) has another `Host`.
 */
export function isWelcome(request: Incoming, url: URL, { hosts, origins }: OriginRules): boolean {
  if (hosts !== undefined && !hosts.includes(url.hostname)) {
    return false;
  }
  const origin = request.headers.get('origin');
  if (origin === null || origins.includes(origin) || isOwn(origin, url)) {
    return true;
  }
  return hosts === undefined && (request.method === 'GET' || request.method === 'HEAD');
}

/** Compares the hosts: a proxy may have taken the encryption off. */
function isOwn(origin: string, url: URL): boolean {
  try {
    return new URL(origin).host === url.host;
  } catch {
    return false;
  }
}
