// The hosts under which a server answers, and the origins that may write through it.

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
  const own = hostOf(request, url);
  if (hosts !== undefined && !hosts.includes(own.hostname)) {
    return false;
  }
  const origin = request.headers.get('origin');
  if (origin === null || origins.includes(origin) || isOf(origin, own)) {
    return true;
  }
  return hosts === undefined && (request.method === 'GET' || request.method === 'HEAD');
}

/**
 * The host that the client has asked. Some hosts of handlers put a name of their own into the URL: Next writes
 * `localhost` there, whatever the `Host` is.
 */
function hostOf(request: Incoming, url: URL): Pick<URL, 'host' | 'hostname'> {
  const header = request.headers.get('host');
  const asked = header === null ? url : parsed(`${url.protocol}//${header}`);
  return asked?.username === '' ? asked : { host: '', hostname: '' };
}

/** Compares the hosts alone: a proxy may have taken the encryption off. */
function isOf(origin: string, { host }: Pick<URL, 'host'>): boolean {
  return parsed(origin)?.host === host;
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
