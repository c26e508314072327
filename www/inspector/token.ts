// The token of the server: it arrives in the fragment of the address, and is kept by this tab alone.

/** The name under which the tab keeps it. */
const NAME = 'statepad-token';

/** The token that the address or this tab has. Removes it from the address, and from the history of the browser. */
export function readToken(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given !== null) {
    fragment.delete('token');
    const rest = fragment.toString();
    history.replaceState(history.state, '', `${location.pathname}${location.search}${rest === '' ? '' : `#${rest}`}`);
    keepToken(given);
    return given;
  }
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** Keeps a token until the tab is closed. */
export function keepToken(token: string): void {
  sessionStorage.setItem(NAME, token);
}

/** Forgets the token, because the server does not know it. */
export function forgetToken(): void {
  sessionStorage.removeItem(NAME);
}
