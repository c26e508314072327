// The choice of the session: apps, users, sessions.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { styleMap } from 'lit/directives/style-map.js';
import { VirtualizerController } from '@tanstack/lit-virtual';
import type { Session, SessionKey } from '../../index.js';
import type { Directory } from '../model/directory.js';
import type { SessionSort } from '../model/session-order.js';
import { nameOf } from '../model/session-name.js';
import { closeOutside, dialogStyle } from '../ui/dialog.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { ageText } from './age.js';
import { ROW, sessionsStyle } from './style.js';

/** The question at the foot: the names of a new session, or a confirmation of a deletion. */
type Question = { readonly kind: 'new' } | { readonly kind: 'delete'; readonly session: Session } | undefined;

/** The columns, with the orders that their titles choose. */
const COLUMNS: readonly { readonly title: string; readonly sorts: readonly SessionSort[]; readonly look: string }[] = [
  { title: 'Session', sorts: ['id'], look: '' },
  { title: 'User', sorts: ['user'], look: '' },
  { title: 'Events', sorts: ['events'], look: 'end events' },
  { title: 'Changed', sorts: ['newest', 'oldest'], look: 'end' },
];

/** The number of rows before the end of the list at which its next page is read. */
const AHEAD = 10;

/** Chooses a session, creates one, deletes one. {@link StatepadSessions.open} shows the list. */
export class StatepadSessions extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    isOpen: { state: true },
    place: { state: true },
    question: { state: true },
    problem: { state: true },
  };
  static override styles = [base, dialogStyle, sessionsStyle];
  declare private isOpen: boolean;
  /** The index of the session that Enter opens. */
  declare private place: number;
  declare private question: Question;
  declare private problem: string | undefined;
  readonly #virtual = new VirtualizerController<HTMLElement, HTMLElement>(this, {
    count: 0,
    getScrollElement: () => this.renderRoot.querySelector<HTMLElement>('.rows'),
    estimateSize: () => ROW,
    overscan: 8,
  });
  readonly #changed = (): void => this.requestUpdate();
  #followed: Directory | undefined;
  #unfollow: (() => void) | undefined;

  constructor() {
    super();
    this.isOpen = false;
    this.place = 0;
  }

  /** Shows the list, and follows its source until it is closed. */
  open(): void {
    const { inspection } = this;
    if (inspection === undefined || this.isOpen) {
      return;
    }
    const { directory, session } = inspection;
    this.isOpen = true;
    this.place = 0;
    this.question = undefined;
    this.problem = undefined;
    this.#followed = directory;
    this.#unfollow = directory.follow();
    directory.addEventListener('change', this.#changed);
    void (async () => {
      await directory.open();
      await directory.choose({ query: '', ...(session === undefined ? {} : { appName: session.appName }) });
      await directory.moreUsers();
      this.place = Math.max(
        this.#sessions.findIndex((one) => this.#isCurrent(one)),
        0,
      );
    })();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#closed();
  }

  #closed(): void {
    this.isOpen = false;
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#followed?.removeEventListener('change', this.#changed);
    this.#followed = undefined;
  }

  get #sessions(): readonly Session[] {
    return this.inspection?.directory.sessions ?? [];
  }

  #isCurrent(session: Session): boolean {
    const current = this.inspection?.session;
    return current !== undefined && nameOf(current) === nameOf(session);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    this.place = Math.max(Math.min(this.place, this.#sessions.length - 1), 0);
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    if (!this.isOpen || inspection === undefined) {
      return nothing;
    }
    const { directory } = inspection;
    return html`<dialog
      aria-label="Sessions"
      @pointerdown=${closeOutside}
      @close=${() => this.#closed()}
      @keydown=${this.#pressed}
    >
      <div class="top">
        ${icon('search')}
        <input
          type="search"
          class="bare"
          role="combobox"
          aria-label="Search sessions"
          aria-expanded="true"
          aria-controls="rows"
          aria-autocomplete="list"
          aria-activedescendant=${this.#sessions.length > 0 ? `row-${this.place}` : nothing}
          placeholder="Session or user"
          autocomplete="off"
          spellcheck="false"
          @input=${(event: InputEvent) => this.#search((event.target as HTMLInputElement).value.trim())}
        />
        <button class="plain square" aria-label="Close" @click=${() => this.#close()}>${icon('close')}</button>
      </div>
      <div class="middle">${this.#places(directory)} ${this.#list(directory)}</div>
      <div class="foot">${this.#foot(directory)}</div>
    </dialog>`;
  }

  #places(directory: Directory): TemplateResult {
    const { apps, users, appName, userId } = directory;
    const choice = (name: string, isChosen: boolean, choose: () => void): TemplateResult =>
      html`<button aria-pressed=${String(isChosen)} title=${name} @click=${choose}>${name || '(empty)'}</button>`;
    return html`<nav aria-label="Apps and users">
      <h3>Apps</h3>
      ${apps.map((app) => choice(app, app === appName, () => void this.#choose({ appName: app })))}
      ${directory.hasMoreApps ? html`<button @click=${() => void directory.moreApps()}>More apps…</button>` : nothing}
      <h3>Users</h3>
      ${choice('All users', userId === undefined, () => void this.#choose({ userId: undefined }))}
      ${users.map((user) => choice(user, user === userId, () => void this.#choose({ userId: user })))}
      ${directory.hasMoreUsers ? html`<button @click=${() => void directory.moreUsers()}>More users…</button>` : nothing}
    </nav>`;
  }

  #list(directory: Directory): TemplateResult {
    const sessions = this.#sessions;
    const virtual = this.#virtual.getVirtualizer();
    if (virtual.options.count !== sessions.length) {
      virtual.setOptions({ ...virtual.options, count: sessions.length });
    }
    const items = virtual.getVirtualItems().filter(({ index }) => index < sessions.length);
    if ((items.at(-1)?.index ?? 0) >= sessions.length - AHEAD && directory.hasMore && !directory.isLoading) {
      void directory.more();
    }
    const now = Date.now();
    return html`<div class="list">
      <div class="titles" role="group" aria-label="Order">
        ${COLUMNS.map(({ title, sorts, look }) => this.#title(title, sorts, look, directory))}
      </div>
      <div class="rows" id="rows" role="listbox" aria-label="Sessions" tabindex="-1">
        ${sessions.length === 0 ? this.#none(directory) : nothing}
        <div role="presentation" style=${styleMap({ height: `${virtual.getTotalSize()}px` })}>
          ${repeat(
            items,
            ({ key }) => key,
            ({ index, start }) => this.#row(sessions[index] as Session, index, start, now),
          )}
        </div>
      </div>
    </div>`;
  }

  #title(title: string, sorts: readonly SessionSort[], look: string, { sort }: Directory): TemplateResult {
    const place = sorts.indexOf(sort);
    const next = sorts[(place + 1) % sorts.length] ?? 'newest';
    return html`<button class=${look} aria-pressed=${String(place >= 0)} @click=${() => void this.#choose({ sort: next })}>
      ${title}${place < 0 ? nothing : icon(sort === 'oldest' || sort === 'id' || sort === 'user' ? 'up' : 'down')}
    </button>`;
  }

  #row(session: Session, index: number, start: number, now: number): TemplateResult {
    const { id, userId, revision, lastUpdateTime } = session;
    return html`<div
      role="option"
      id="row-${index}"
      aria-selected=${String(index === this.place)}
      aria-setsize=${this.inspection?.directory.total ?? -1}
      aria-posinset=${index + 1}
      style=${styleMap({ transform: `translateY(${start}px)` })}
      title=${id}
      @click=${() => void this.#open(session)}
    >
      <span class="id cut" dir="auto">${id}${this.#isCurrent(session) ? icon('check') : nothing}</span>
      <span class="cut" dir="auto">${userId}</span>
      <span class="end events">${revision.toLocaleString('en')}</span>
      <span class="end">${ageText(lastUpdateTime, now)}</span>
    </div>`;
  }

  #none({ isLoading, query, problem }: Directory): TemplateResult {
    const words =
      problem !== undefined
        ? `The sessions cannot be read: ${reasonOf(problem)}`
        : isLoading
          ? 'Reading…'
          : query === ''
            ? 'There is no session here yet.'
            : `No session or user that is loaded has “${query}” in its name.`;
    return html`<p class="none" role="presentation">${words}</p>`;
  }

  #foot(directory: Directory): TemplateResult {
    const { question, inspection } = this;
    if (question?.kind === 'new') {
      return this.#newForm(directory);
    }
    if (question?.kind === 'delete') {
      const { id, revision } = question.session;
      return html`<span>Delete <b>${id}</b> with its ${revision.toLocaleString('en')} events?</span>
        <button class="danger spread" @click=${() => void this.#delete(question.session)}>Delete</button>
        <button @click=${() => (this.question = undefined)}>Keep it</button>`;
    }
    const chosen = this.#sessions[this.place];
    const { total, loaded } = directory;
    const count = `${total.toLocaleString('en')} ${total === 1 ? 'session' : 'sessions'}`;
    const problem = this.problem ?? (directory.problem === undefined ? undefined : reasonOf(directory.problem));
    return html`<span role="status">${loaded < total ? `${loaded.toLocaleString('en')} of ${count} loaded` : count}</span>
      ${problem === undefined ? nothing : html`<span class="bad" role="alert">${problem}</span>`}
      ${
        inspection?.canWrite === true
          ? html`<button class="spread" @click=${() => this.#ask({ kind: 'new' })}>${icon('plus')} New session</button>
            <button
              ?disabled=${chosen === undefined}
              aria-label="Delete ${chosen?.id ?? 'session'}"
              @click=${() => chosen && this.#ask({ kind: 'delete', session: chosen })}
            >
              ${icon('delete')} Delete
            </button>`
          : nothing
      }`;
  }

  #newForm({ appName = '', userId }: Directory): TemplateResult {
    const user = userId ?? this.inspection?.session?.userId ?? '';
    const field = (name: string, value: string, label: string, isRequired: boolean): TemplateResult =>
      html`<input name=${name} .value=${value} aria-label=${label} placeholder=${label} ?required=${isRequired} autocomplete="off" />`;
    return html`<form @submit=${this.#create}>
      ${appName === '' ? field('app', '', 'App', true) : nothing} ${field('user', user, 'User', true)}
      ${field('id', '', 'Id (made up if empty)', false)}
      <button class="main">Create</button>
      <button type="button" @click=${() => (this.question = undefined)}>Cancel</button>
      ${this.problem === undefined ? nothing : html`<span class="bad" role="alert">${this.problem}</span>`}
    </form>`;
  }

  protected override updated(changed: PropertyValues): void {
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog !== null && !dialog.open) {
      dialog.showModal();
      this.renderRoot.querySelector('input')?.focus();
    }
    if (changed.has('place') && this.isOpen && this.#sessions.length > 0) {
      this.#virtual.getVirtualizer().scrollToIndex(this.place, { align: 'auto' });
    }
    if (changed.has('question') && this.isOpen) {
      const target = { new: 'form input', delete: '.foot .danger', none: '.top input' }[this.question?.kind ?? 'none'];
      this.renderRoot.querySelector<HTMLElement>(target)?.focus();
    }
  }

  readonly #pressed = (event: KeyboardEvent): void => {
    const isInField = (event.target as Element).closest('.top') !== null;
    const rows = Math.max(Math.floor((this.#virtual.getVirtualizer().scrollRect?.height ?? 0) / ROW) - 1, 1);
    const way = { ArrowDown: 1, ArrowUp: -1, PageDown: rows, PageUp: -rows }[event.key];
    const chosen = this.#sessions[this.place];
    if (event.key === 'Escape' && this.question !== undefined) {
      event.preventDefault();
      this.question = undefined;
    } else if (isInField && way !== undefined) {
      event.preventDefault();
      this.place = Math.max(Math.min(this.place + way, this.#sessions.length - 1), 0);
    } else if (isInField && event.key === 'Enter' && !event.isComposing && chosen !== undefined) {
      event.preventDefault();
      void this.#open(chosen);
    }
  };

  #close(): void {
    this.renderRoot.querySelector('dialog')?.close();
  }

  #ask(question: Question): void {
    this.problem = undefined;
    this.question = question;
  }

  #search(query: string): void {
    this.place = 0;
    void this.#choose({ query });
  }

  async #choose(choice: Parameters<Directory['choose']>[0]): Promise<void> {
    const directory = this.inspection?.directory;
    this.place = 0;
    await directory?.choose(choice);
    if ('appName' in choice && directory?.users.length === 0) {
      await directory.moreUsers();
    }
  }

  async #open({ appName, userId, id: sessionId }: Session): Promise<void> {
    await this.#do(async () => {
      await this.inspection?.open({ appName, userId, sessionId });
      this.#close();
    });
  }

  readonly #create = (event: SubmitEvent): void => {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const text = (name: string): string => {
      const value = data.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    const appName = this.inspection?.directory.appName ?? text('app');
    const sessionId = text('id');
    void this.#do(async () => {
      const request = { appName, userId: text('user') };
      await this.inspection?.create(sessionId === '' ? request : { ...request, sessionId });
      this.#close();
    });
  };

  async #delete(session: Session): Promise<void> {
    const { appName, userId, id: sessionId } = session;
    const key: SessionKey = { appName, userId, sessionId };
    const wasCurrent = this.#isCurrent(session);
    await this.#do(async () => {
      const { inspection } = this;
      await inspection?.service?.deleteSession(key);
      inspection?.directory.forget(key);
      const [next] = this.#sessions;
      this.question = undefined;
      if (wasCurrent && next !== undefined) {
        await inspection?.open({ appName: next.appName, userId: next.userId, sessionId: next.id });
      }
    });
  }

  async #do(task: () => Promise<void>): Promise<void> {
    try {
      this.problem = undefined;
      await task();
    } catch (error) {
      this.problem = reasonOf(error);
    }
  }
}

customElements.define('statepad-sessions', StatepadSessions);
