// The first words of an inspector: for people on a terminal, and one line of JSON for programs.

/** The facts that an inspector tells when it listens. */
export interface InspectGreeting {
  /** The address of the page, with its token. */
  readonly url: string;
  /** The store, without a password. */
  readonly store: string;
  readonly write: boolean;
}

/** One line of JSON: `{ listening, store, token, inspector, write }`. */
export function greetingForPrograms({ url, store, write }: InspectGreeting): string {
  const { origin, hash } = new URL(url);
  return JSON.stringify({ listening: origin, store, token: hash.replace('#token=', ''), inspector: url, write });
}

/** The words for people. */
export function greetingForPeople({ url, store, write }: InspectGreeting): string {
  return [
    `statepad shows ${store}${write ? ', and may write to it' : ''}:`,
    '',
    `  ${url}`,
    '',
    'Whoever has this address sees the sessions. Ctrl-C ends it.',
  ].join('\n');
}
