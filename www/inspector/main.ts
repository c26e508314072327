// The page that a server of statepad serves beside its routes: an inspector of the server's own sessions.

import { connect } from 'statepad/client';
import { mount, type InspectorView, type MountedInspector } from 'statepad/inspector';
import { Address, hashOf, placeFrom } from '../shared/address.js';
import { readToken, forgetToken } from './token.js';
import { askForToken } from './ask.js';

/** The facts that the server tells about itself, in `about.json`. */
interface About {
  /** The name of its store, without secrets. */
  readonly store: string;
  /** True when it takes writes. */
  readonly write: boolean;
  /** The address of its routes, relative to this page. */
  readonly base: string;
}

const place = document.querySelector('#inspector') as HTMLElement;

async function start(): Promise<void> {
  const token = readToken();
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` });
  const answer = await fetch('./about.json', { headers, cache: 'no-store' });
  if (answer.status === 401) {
    // Its name is known to those alone who have a token; a server that asks for none answers without.
    forgetToken();
    await askForToken(place, 'statepad', token === undefined ? '' : 'The server does not know this token.');
    await start();
    return;
  }
  const { store, write, base } = (await answer.json()) as About;
  document.title = `${store} · statepad`;
  const source = connect({ url: new URL(base, location.href), token });
  try {
    follow(
      await mount(place, { source, label: store, write, view: placeFrom(location.hash)?.view, onView: showAddress }),
    );
  } catch (error) {
    await source.close();
    if ((error as { readonly code?: string }).code !== 'UNAUTHENTICATED') {
      throw error;
    }
    forgetToken();
    await askForToken(place, store, 'The server does not know this token.');
    await start();
  }
}

let address: Address | undefined;

function showAddress(view: InspectorView): void {
  address?.show(hashOf(view));
}

/** Shows the view that the address names when the user goes back, or edits it. */
function follow(inspector: MountedInspector): void {
  address = new Address(() => {
    const place = placeFrom(location.hash);
    if (place !== undefined) {
      inspector.show(place.view).catch(tell);
    }
  });
}

function tell(error: unknown): void {
  const problem = document.createElement('p');
  problem.role = 'alert';
  problem.textContent = `The sessions cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  place.replaceChildren(problem);
}

start().catch(tell);
