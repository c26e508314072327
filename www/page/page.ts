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
    opened: { state: true },
    isShowingFile: { state: true },
    notices: { state: true },
    isOver: { state: true },
    view: { state: true },
  };
  static override styles = [base, pageStyle];
  /** The file that was opened last: Back leaves it, and Forward returns to it. */
  declare private opened: OpenedFile | undefined;
  /** True while the file is on show, and not the page's own sessions. */
  declare private isShowingFile: boolean;
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
  /** Count the requests to mount and to visit an address: the last ones count. */
  #mounts = 0;
  #visits = 0;
  /** The number of visits under way: changes during one do not go into the address. */
  #visiting = 0;

  constructor() {
    super();
    this.notices = [];
    this.isShowingFile = false;
    this.isOver = false;
  }

  /** The file on show. */
  get #file(): OpenedFile | undefined {
    return this.isShowingFile ? this.opened : undefined;
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
        <p class="about">See what your agent knew, and when. Drag the timeline, or point at a word of the prompt.</p>
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
          ${this.#keptBadge()}
        </nav>
      </header>
      <statepad-notices .notices=${this.#allNotices()} @dismiss=${(event: CustomEvent<string>) => this.#told.tell(event.detail, undefined)}></statepad-notices>
      <main id="inspector"></main>
      ${this.isOver ? html`<div class="over">Drop a file with sessions to look into it</div>` : nothing}`;
  }

  #keptBadge(): TemplateResult {
    const storage = this.#storage;
    const isKept = storage?.refusal === undefined;
    const text = storage === undefined ? 'Opening storage…' : isKept ? 'Saved in this browser' : 'Not saved';
    return html`<span class="kept" data-kept=${storage === undefined ? 'unknown' : isKept ? 'yes' : 'no'}>${text}</span>`;
  }

  #playButton(): TemplateResult {
    const player = this.#player;
    return player?.isPlaying === true
      ? html`<button class="main" @click=${() => player.pause()}>Pause</button>`
      : html`<button class="main" ?disabled=${player === undefined} @click=${() => void this.#replay()}>Replay</button>`;
  }

  #allNotices(): readonly Notice[] {
    const file = this.#file;
    if (file === undefined) {
      return this.notices;
    }
    const { name, sessions, events } = file;
    const text = `Looking into ${name}, read-only: ${count(sessions.length, 'session')}, ${count(events, 'event')}.`;
    const act = (): void => void this.#closeFile();
    return [{ id: 'file', kind: 'info', text, action: 'Back to the demo', act }, ...this.notices];
  }

  async #start(): Promise<void> {
    const options = new URLSearchParams(location.search);
    const database = options.get('database') ?? DATABASE;
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
    this.#player = new Player(storage.service, () => this.requestUpdate(), paceIn(options));
    const { sessions } = await storage.service.listSessions({ appName: APP, limit: 1 });
    if (location.hash !== '' || sessions.length > 0) {
      await this.#goTo();
    }
    if (sessions.length === 0) {
      await this.#replay();
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
      await this.#showOwn({ session });
      await player.play(session);
    });
  }

  /**
   * Shows the page's own sessions, and a view of them. Resolves to the missing parts of the view, as sentences. Throws
   * when its session is missing.
   */
  async #showOwn(view: InspectorView | undefined): Promise<readonly string[]> {
    const { service } = this.#storage as Storage;
    if (this.#inspector === undefined || this.isShowingFile) {
      this.isShowingFile = false;
      await this.#mount({
        source: service,
        label: 'this browser',
        apps: [APP],
        write: true,
        template: (session) => (isStory(session) ? INSTRUCTION : undefined),
        send: async (session, text) => await answer(service, session, text),
        sendHint: EXAMPLE,
      });
    }
    return view === undefined ? [] : await (this.#inspector as MountedInspector).show(view);
  }

  /** Shows the file that was opened last, and a view of it: its first session by default. */
  async #showFile(view: InspectorView | undefined): Promise<readonly string[]> {
    const { source, name, sessions } = this.opened as OpenedFile;
    const [session] = sessions;
    const apps = [...new Set(sessions.map(({ appName }) => appName))];
    if (!this.isShowingFile) {
      this.isShowingFile = true;
      await this.#mount({ source, label: name, apps, view: session === undefined ? undefined : { session } });
    }
    return view === undefined ? [] : await (this.#inspector as MountedInspector).show(view);
  }

  async #mount(options: InspectorOptions): Promise<void> {
    await this.updateComplete;
    const place = this.renderRoot.querySelector('#inspector') as HTMLElement;
    const asked = ++this.#mounts;
    this.#inspector?.dispose();
    this.#inspector = undefined;
    const onView = (view: InspectorView): void => this.#show(view);
    const mounted = await mount(place, { ...options, onView, onTheme: showTheme });
    if (asked !== this.#mounts) {
      mounted.dispose();
      return;
    }
    this.#inspector = mounted;
    if (mounted.view !== undefined) {
      this.#show(mounted.view);
    }
  }

  #show(view: InspectorView): void {
    this.view = view;
    if (this.#visiting > 0) {
      return;
    }
    this.#address?.show(hashOf(view, this.#file?.name));
  }

  /** Shows what the address names, as far as it exists; otherwise says what is missing, and shows another session. */
  async #goTo(): Promise<void> {
    const visit = ++this.#visits;
    this.#visiting += 1;
    const place = placeFrom(location.hash);
    const isLink = location.hash !== '' && location.hash !== '#';
    let missing: readonly string[] = isLink && place === undefined ? ['The link does not name a session.'] : [];
    const { file, view } = place ?? {};
    try {
      if (file !== undefined && file !== this.opened?.name) {
        missing = [`The link leads into the file ${file}. Open that file again to look into it.`];
        await this.#showOwn(undefined);
      } else if (file !== undefined) {
        missing = await this.#showFile(view);
      } else {
        missing = [...missing, ...(await this.#showOwn(view))];
      }
    } catch {
      const { sessionId, userId } = view?.session ?? {};
      missing = [`The link leads to session “${sessionId ?? ''}” of user “${userId ?? ''}”, which is not here.`];
    }
    this.#visiting -= 1;
    if (visit !== this.#visits) {
      return;
    }
    this.#told.tell('link', missing.length === 0 ? undefined : { kind: 'info', text: missing.join(' ') });
    const shown = this.#inspector?.view;
    if (shown !== undefined) {
      this.view = shown;
      this.#address?.correct(hashOf(shown, this.#file?.name));
    }
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
      signal.throwIfAborted();
      this.#player?.pause();
      this.opened?.close();
      this.opened = opened;
      this.isShowingFile = false;
      this.#address?.begin();
      await this.#showFile(undefined);
    });
  }

  /** Shows the page's own sessions again, and frees the memory of the file. */
  async #closeFile(): Promise<void> {
    const { opened } = this;
    this.#address?.begin();
    await this.#telling(async () => {
      await this.#showOwn(undefined);
    });
    opened?.close();
    this.opened = undefined;
  }

  async #download(event: Event): Promise<void> {
    event.preventDefault();
    const appName = this.view?.session.appName ?? APP;
    const { service } = this.#storage as Storage;
    await this.#telling(async () => {
      download(await (this.#file?.lines(appName) ?? linesOf(service, appName)), appName);
    });
  }
}

const LOGO = svg`<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" fill="#3b3fd1"/><path d="M4 5h8M4 8h5M4 11h7" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>`;

/** Shows a theme in the page around the inspector. */
function showTheme(theme: 'system' | 'light' | 'dark'): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
}

/** The pace of the story: `?pace=4` plays it four times as fast. */
function paceIn(options: URLSearchParams): number {
  const pace = Number(options.get('pace') ?? 1);
  return pace > 0 ? pace : 1;
}

/** A count with its noun: "1 event", "2 events". */
function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

customElements.define('statepad-page', StatepadPage);
