// The page: an inspector, and above it one sentence and three things to do.

import { LitElement, html, nothing, svg, type PropertyDeclarations, type TemplateResult } from 'lit';
import { mount, type InspectorOptions, type InspectorView, type MountedInspector } from 'statepad/inspector';
import { Address, hashOf, placeFrom } from '../shared/address.js';
import { answer, EXAMPLE } from './answers.js';
import { Dropping } from './files/dropping.js';
import { download, linesOf } from './files/download.js';
import type { OpenedFile } from './files/files.js';
import { FileOpening } from './files/opening.js';
import './notices.js';
import { Notices, type Notice } from './notices.js';
import { base, pageStyle } from './page-style.js';
import { isStory, newStory, Player } from './player.js';
import { reasonOf } from './reason.js';
import { ANEW, APP, DATABASE, openPatiently, refusalText, troubleText, type Storage } from './storage.js';
import { INSTRUCTION } from './story.js';

/** The documentation. */
const GUIDE = './guide/index.html';
const CRATE = './guide/crate.html';
const COMMAND = 'npx statepad inspect sessions.db';

const SLOW =
  'The browser’s storage is not answering. Another tab of this page may be holding it: close that tab, keep waiting, or continue without saving.';

/** The whole page. */
export class StatepadPage extends LitElement {
  static override properties: PropertyDeclarations = {
    file: { state: true },
    notices: { state: true },
    isOver: { state: true },
    view: { state: true },
  };
  static override styles = [base, pageStyle];
  /** The opened file; `undefined` while the page's own sessions are on show. */
  declare private file: OpenedFile | undefined;
  declare private notices: readonly Notice[];
  declare private isOver: boolean;
  declare private view: InspectorView | undefined;
  readonly #told = new Notices((notices) => (this.notices = notices));
  readonly #opening = new FileOpening((id, notice) => this.#told.tell(id, notice));
  readonly #dropping = new Dropping(
    (file) => void this.#open(file),
    (isOver) => (this.isOver = isOver),
  );
  #storage: Storage | undefined;
  #player: Player | undefined;
  #address: Address | undefined;
  #inspector: MountedInspector | undefined;
  /** Counts the requests to mount: the last one counts. */
  #mounts = 0;

  constructor() {
    super();
    this.notices = [];
    this.isOver = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#dropping.begin();
    this.#address = new Address(() => void this.#goTo());
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#dropping.end();
    this.#address?.dispose();
    this.#player?.pause();
    this.#inspector?.dispose();
  }

  protected override render(): TemplateResult {
    return html`<header>
        <h1>${LOGO}statepad</h1>
        <p class="about">See what your agent knew, and when: two agents book a trip here. Drag the timeline, or point at a word of their prompt.</p>
        <div class="doing">
          ${this.#playButton()}
          <input id="file" class="hidden" type="file" accept=".jsonl,.ndjson,.json,.txt" tabindex="-1" aria-label="A file with sessions" @change=${this.#choose} />
          <button @click=${() => this.renderRoot.querySelector<HTMLInputElement>('#file')?.click()}>Open your file…</button>
          <code title="For sessions in SQLite, Postgres, Redis or a file of google-adk">${COMMAND}</code>
        </div>
        <nav class="more" aria-label="More">
          <a href=${GUIDE} target="_blank">Guide</a>
          <a href=${CRATE} target="_blank">Rust</a>
          <a href="#" @click=${(event: Event) => void this.#download(event)}>Download</a>
        </nav>
      </header>
      <statepad-notices .notices=${this.#allNotices()} @dismiss=${(event: CustomEvent<string>) => this.#told.tell(event.detail, undefined)}></statepad-notices>
      <main id="inspector"></main>
      ${this.isOver ? html`<div class="over">Drop a file with sessions to look into it</div>` : nothing}`;
  }

  #playButton(): TemplateResult {
    const player = this.#player;
    return player?.isPlaying === true
      ? html`<button class="main" @click=${() => player.pause()}>Pause</button>`
      : html`<button class="main" ?disabled=${player === undefined} @click=${() => void this.#replay()}>Replay</button>`;
  }

  #allNotices(): readonly Notice[] {
    if (this.file === undefined) {
      return this.notices;
    }
    const { name, sessions, events } = this.file;
    const text = `Looking into ${name}, read-only: ${count(sessions.length, 'session')}, ${count(events, 'event')}.`;
    const act = (): void => void this.#closeFile();
    return [{ id: 'file', kind: 'info', text, action: 'Back to the demo', act }, ...this.notices];
  }

  async #start(): Promise<void> {
    const database = new URLSearchParams(location.search).get('database') ?? DATABASE;
    const storage = await openPatiently(database, {
      onTrouble: (trouble) =>
        this.#told.tell('trouble', trouble === undefined ? undefined : { kind: 'bad', text: troubleText(trouble) }),
      onSlow: (act) => this.#told.tell('slow', { kind: 'info', text: SLOW, action: 'Continue without saving', act }),
    });
    this.#storage = storage;
    this.#told.tell('slow', undefined);
    this.#told.tell('anew', storage.isAnew === true ? { kind: 'info', text: ANEW } : undefined);
    if (storage.refusal !== undefined) {
      this.#told.tell('refused', { kind: 'bad', text: refusalText(storage.refusal) });
    }
    this.#player = new Player(storage.service, () => this.requestUpdate());
    const { sessions } = await storage.service.listSessions({ appName: APP, limit: 1 });
    if (sessions.length === 0) {
      await this.#mountOwn(undefined);
      await this.#replay();
    } else {
      await this.#goTo();
    }
  }

  /** Shows a new session of the story, and plays it. */
  async #replay(): Promise<void> {
    const player = this.#player;
    const storage = this.#storage;
    if (player === undefined || storage === undefined) {
      return;
    }
    await this.#telling(async () => {
      const session = await newStory(storage.service);
      this.#address?.begin();
      if (this.file === undefined) {
        await this.#inspector?.show({ session });
      } else {
        await this.#closeFile({ session });
      }
      await player.play(session);
    });
  }

  /** Mounts the inspector of the page's own sessions. */
  async #mountOwn(view: InspectorView | undefined): Promise<void> {
    const { service } = this.#storage as Storage;
    await this.#mount({
      source: service,
      label: 'this browser',
      apps: [APP],
      write: true,
      view,
      template: (session) => (isStory(session) ? INSTRUCTION : undefined),
      send: async (session, text) => await answer(service, session, text),
      sendHint: EXAMPLE,
    });
  }

  async #mount(options: InspectorOptions): Promise<void> {
    await this.updateComplete;
    const place = this.renderRoot.querySelector('#inspector') as HTMLElement;
    const asked = ++this.#mounts;
    this.#inspector?.dispose();
    this.#inspector = undefined;
    const onView = (view: InspectorView): void => this.#show(view);
    const mounted = await mount(place, { ...options, onView });
    if (asked === this.#mounts) {
      this.#inspector = mounted;
    } else {
      mounted.dispose();
    }
  }

  #show(view: InspectorView): void {
    this.view = view;
    this.#address?.show(hashOf(view, this.file?.name));
  }

  /** Shows what the address names, as far as it exists. */
  async #goTo(): Promise<void> {
    const place = placeFrom(location.hash);
    await this.#telling(async () => {
      if (place?.file !== undefined && place.file !== this.file?.name) {
        const text = `The link leads into the file ${place.file}: open it to look into it.`;
        this.#told.tell('link', { kind: 'info', text });
        await (this.#inspector === undefined ? this.#mountOwn(undefined) : Promise.resolve());
        return;
      }
      this.#told.tell('link', undefined);
      if (this.file !== undefined && place?.file === undefined) {
        await this.#closeFile(place?.view);
        return;
      }
      if (this.#inspector === undefined) {
        await this.#mountOwn(undefined);
      }
      const missing = place === undefined ? [] : await this.#inspector?.show(place.view);
      const text = missing?.join(' ') ?? '';
      this.#told.tell('missing', text === '' ? undefined : { kind: 'info', text });
    });
  }

  /** Tells the error of a task. */
  async #telling(task: () => Promise<void>): Promise<void> {
    this.#told.tell('problem', undefined);
    try {
      await task();
    } catch (error) {
      this.#told.tell('problem', { kind: 'bad', text: reasonOf(error) });
    }
  }

  readonly #choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const [file] = input.files ?? [];
    if (file !== undefined) {
      void this.#open(file);
    }
    // The same file can be chosen again.
    input.value = '';
  };

  async #open(file: File): Promise<void> {
    await this.#opening.open(file, async (opened, signal) => {
      const [session] = opened.sessions;
      const apps = [...new Set(opened.sessions.map(({ appName }) => appName))];
      signal.throwIfAborted();
      this.#player?.pause();
      this.file?.close();
      this.file = opened;
      this.#address?.begin();
      const view = session === undefined ? undefined : { session };
      await this.#mount({ source: opened.source, label: opened.name, apps, view });
      if (view !== undefined) {
        this.#show(view);
      }
    });
  }

  async #closeFile(view?: InspectorView): Promise<void> {
    this.file?.close();
    this.file = undefined;
    await this.#mountOwn(view);
    if (view !== undefined) {
      this.#show(view);
    }
  }

  async #download(event: Event): Promise<void> {
    event.preventDefault();
    const appName = this.view?.session.appName ?? APP;
    const { service } = this.#storage as Storage;
    await this.#telling(async () => {
      download(await (this.file === undefined ? linesOf(service, appName) : this.file.lines(appName)), appName);
    });
  }
}

const LOGO = svg`<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" fill="#3b3fd1"/><path d="M4 5h8M4 8h5M4 11h7" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>`;

/** A count with its noun: "1 event", "2 events". */
function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

customElements.define('statepad-page', StatepadPage);
