// A form that asks for the token of the server.

import { keepToken } from './token.js';

/** Asks for the token, and keeps it. Resolves when it was given. */
export async function askForToken(place: HTMLElement, store: string, problem = ''): Promise<string> {
  const form = document.createElement('form');
  const title = document.createElement('h2');
  title.textContent = store;
  const label = document.createElement('label');
  label.textContent = 'Token';
  const input = document.createElement('input');
  input.type = 'password';
  input.required = true;
  input.autocomplete = 'off';
  label.append(input);
  const button = document.createElement('button');
  button.textContent = 'Open';
  const hint = document.createElement('p');
  hint.textContent = problem === '' ? 'The server printed a token when it started, or has a file of tokens.' : problem;
  hint.role = problem === '' ? 'note' : 'alert';
  form.append(title, hint, label, button);
  place.replaceChildren(form);
  input.focus();
  // The address that the server printed may be pasted into this very tab.
  const reload = (): void => location.reload();
  window.addEventListener('hashchange', reload);
  return await new Promise((resolve) => {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      window.removeEventListener('hashchange', reload);
      place.replaceChildren();
      keepToken(input.value);
      resolve(input.value);
    });
  });
}
