// The first words of a server: for people on a terminal, and one line of JSON for programs.

/** The facts that a server tells when it listens. */
export interface Greeting {
  /** The address to use, without a slash at its end. */
  readonly url: string;
  /** The store, without a password. */
  readonly store: string;
  /** A token that was made for this run. */
  readonly token: string | undefined;
  /** The address of the inspector, where there is one. */
  readonly inspector: string | undefined;
  readonly insecure: boolean;
}

/** One line of JSON: `{ listening, store, token?, inspector? }`. */
export function greetingForPrograms({ url, store, token, inspector }: Greeting): string {
  return JSON.stringify({ listening: url, store, token, inspector });
}

/** The words for people, with the first request, and the line of a Python agent. */
export function greetingForPeople({ url, store, token, inspector, insecure }: Greeting): string {
  const known = token ?? 'TOKEN';
  const header = insecure ? '' : ` -H 'authorization: Bearer ${known}'`;
  const argument = insecure ? '' : `, token='${known}'`;
  return [
    `statepad serves ${store} at ${url}`,
    ...(token === undefined ? [] : ['', `Token of this run: ${token}`]),
    '',
    `  curl${header} ${url}/v1/apps`,
    '',
    ...(inspector === undefined
      ? []
      : [`Inspector, a page: ${inspector}${token === undefined ? '' : `#token=${token}`}`, '']),
    "Sessions of google-adk's agents, by pip install 'statepad[adk]':",
    '',
    `  sessions = StatepadSessionService('${url}'${argument})`,
    '',
    'Ctrl-C ends it.',
  ].join('\n');
}
