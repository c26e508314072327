// The choice of the session: the app, the user, the session.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import type { Session, SessionKey } from '../../index.js';
import { InspectorElement } from '../ui/inspector-element.js';
import type { Inspection } from '../model/inspection.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';

/** The question on show: a name for a new user, or a confirmation of a deletion. */
type Question = 'user' | 'delete' | undefined;

/** Switches between apps, users and sessions; creates sessions, and deletes the current one. */
export class StatepadSessions extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    question: { state: true },
    problem: { state: true },
  };
  static override styles = [
    base,
    css`
      .choice {
        display: flex;
        align-items: center;
        gap: 0.4rem;
        min-width: 0;
      }

      select {
        max-width: min(16rem, 60vw);
        text-overflow: ellipsis;
      }

      /* The same width for short and long names keeps their neighbours in place. */
      #user {
        width: 5.5rem;
      }

      #session {
        width: 10.5rem;
      }

      form {
        display: contents;
      }
    `,
  ];
  declare private question: Question;
  declare private problem: string | undefined;

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    const session = inspection?.session;
    if (inspection === undefined || session === undefined) {
      return this.#beginning(inspection);
    }
    const { appName, userId, id } = session;
    const ofApp = inspection.sessions.filter((other) => other.appName === appName);
    const ofUser = ofApp.filter((other) => other.userId === userId);
    return html`<div class="row">
        ${
          inspection.apps.length > 1
            ? select(
                'App',
                inspection.apps,
                appName,
                (name) => void this.#openFirst((other) => other.appName === name),
              )
            : nothing
        }
        ${select(
          'User',
          unique([userId, ...ofApp.map((other) => other.userId)]),
          userId,
          (name) => void this.#openFirst((other) => other.appName === appName && other.userId === name),
        )}
        ${select(
          'Session',
          unique([id, ...ofUser.map((other) => other.id)]),
          id,
          (name) => void this.#open({ appName, userId, sessionId: name }),
        )}
        ${inspection.readOnly ? nothing : this.#controls(session)}
      </div>
      ${this.problem === undefined ? nothing : html`<p class="bad" role="alert">${this.problem}</p>`}`;
  }

  /** Before there is a session there is as much room for its names, and one can be created. */
  #beginning(inspection: Inspection | undefined): TemplateResult {
    const { apps = [], readOnly = true } = inspection ?? {};
    const [appName] = apps;
    const create = (): void =>
      void this.#do(() => this.inspection?.create({ appName: appName ?? '', userId: 'user' }));
    const isUnable = readOnly || appName === undefined;
    return html`<div class="row">
      ${['User', 'Session'].map(
        (label) =>
          html`<span class="choice"><span class="quiet">${label}</span><select id=${label.toLowerCase()} aria-label="No ${label.toLowerCase()} yet" disabled></select></span>`,
      )}
      <button ?disabled=${isUnable} @click=${create}>New session</button>
      <button disabled>New user</button>
      <button disabled>Delete session</button>
    </div>`;
  }

  #controls({ appName, userId, id }: Session): TemplateResult {
    if (this.question === 'user') {
      return html`<form class="row" @submit=${(event: SubmitEvent) => this.#newUser(event, appName)}>
        <input name="user" aria-label="Name of the new user" placeholder="name of the user" required autocomplete="off" @keydown=${this.#escape} />
        <button class="main">Create</button>
        <button type="button" @click=${() => (this.question = undefined)}>Cancel</button>
      </form>`;
    }
    if (this.question === 'delete') {
      return html`<span>Delete ${id} with its events?</span>
        <button class="main" @click=${() => void this.#delete({ appName, userId, sessionId: id })}>Yes, delete</button>
        <button @click=${() => (this.question = undefined)}>No</button>`;
    }
    return html`<button @click=${() => void this.#do(() => this.inspection?.create({ appName, userId }))}>New session</button>
      <button @click=${() => void this.#ask('user')}>New user</button>
      <button @click=${() => void this.#ask('delete')}>Delete session</button>`;
  }

  async #ask(question: Question): Promise<void> {
    this.question = question;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('form input, button.main')?.focus();
  }

  readonly #escape = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      this.question = undefined;
    }
  };

  #newUser(event: SubmitEvent, appName: string): void {
    event.preventDefault();
    const { value: userId } = (event.target as HTMLFormElement).elements.namedItem('user') as HTMLInputElement;
    void this.#do(() => this.inspection?.create({ appName, userId }));
  }

  async #delete(key: SessionKey): Promise<void> {
    await this.#do(async () => {
      await this.inspection?.service?.deleteSession(key);
      await this.inspection?.list();
      const { sessions = [] } = this.inspection ?? {};
      const next = sessions.find(({ userId }) => userId === key.userId) ?? sessions[0];
      await (next === undefined
        ? this.inspection?.create({ appName: key.appName, userId: key.userId })
        : this.inspection?.open({ appName: next.appName, userId: next.userId, sessionId: next.id }));
    });
  }

  async #openFirst(suits: (session: Session) => boolean): Promise<void> {
    const first = this.inspection?.sessions.find(suits);
    if (first !== undefined) {
      await this.#open({ appName: first.appName, userId: first.userId, sessionId: first.id });
    }
  }

  async #open(key: SessionKey): Promise<void> {
    await this.#do(() => this.inspection?.open(key));
  }

  async #do(task: () => Promise<unknown> | undefined): Promise<void> {
    try {
      await task();
      this.question = undefined;
      this.problem = undefined;
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }
}

function select(
  label: string,
  names: readonly string[],
  chosen: string,
  choose: (name: string) => void,
): TemplateResult {
  const id = label.toLowerCase();
  return html`<span class="choice"
    ><label class="quiet" for=${id}>${label}</label>
    <select id=${id} @change=${(event: Event) => choose((event.target as HTMLSelectElement).value)} title=${chosen}>
      ${names.map((name) => html`<option value=${name} ?selected=${name === chosen} .selected=${name === chosen}>${name || '(empty)'}</option>`)}
    </select></span
  >`;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].sort((a, b) => a.localeCompare(b));
}

customElements.define('statepad-sessions', StatepadSessions);
