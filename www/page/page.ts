// The page: a conversation at the left, the inspector at the right, and above them the controls for both.

import { LitElement, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { Inspection } from '../inspector/model/inspection.js';
import { reasonOf } from '../inspector/ui/reason.js';
import { base } from '../inspector/ui/style.js';
import '../inspector/inspector.js';
import { Address, hashOf, placeFrom } from './address.js';
import { first } from './agent.js';
import { download, linesOf } from './files/download.js';
import type { OpenedFile } from './files/files.js';
import { FileOpening } from './files/opening.js';
import './notices.js';
import type { Notice } from './notices.js';
import { pageStyle } from './page-style.js';
import { ANEW, APP, DATABASE, openPatiently, refusalText, troubleText, type Storage } from './storage.js';
import './talk.js';
import { chooseTheme, theme, THEMES, type Theme } from './theme.js';
import { count, visit } from './visit.js';

/** The documentation. */
const GUIDE = './guide/index.html';
const CRATE = './guide/crate.html';

const SLOW =
  'The browser’s storage is not answering. Another tab of this page may be holding it: close that tab, keep waiting, or continue without saving.';

/** The skip links at the top of the page: names, and selectors of their targets. */
const PARTS = [
  ['Conversation', '#talk-part'],
  ['State', '#state-part'],
  ['Events', '#events-part'],
  ['Timeline', '#timeline-part'],
] as const;

/** The whole page. */
export class StatepadPage extends LitElement {
  static override properties: PropertyDeclarations = {
    own: { state: true },
    opened: { state: true },
    isShowingFile: { state: true },
    notices: { state: true },
    isEmpty: { state: true },
    isOver: { state: true },
    theme: { state: true },
  };
  static override styles = [base, pageStyle];
  declare private own: Inspection | undefined;
  declare private opened: { readonly inspection: Inspection; readonly file: OpenedFile } | undefined;
  /** True while the opened file is shown, and not the page's own sessions. */
  declare private isShowingFile: boolean;
  declare private notices: readonly Notice[];
  /** True until there is a session. */
  declare private isEmpty: boolean;
  declare private isOver: boolean;
  declare private theme: Theme;
  #storage: Storage | undefined;
  #address: Address | undefined;
  /** The number of visits under way: changes during one do not go into the address. */
  #visits = 0;
  /** Resolves when they are over. */
  #visited = Promise.resolve();
  readonly #opening = new FileOpening((id, notice) => this.#tell(id, notice));

  constructor() {
    super();
    this.isShowingFile = false;
    this.notices = [];
    this.isEmpty = true;
    this.isOver = false;
    this.theme = theme();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener('dragover', this.#dragOver);
    window.addEventListener('dragleave', this.#dragLeave);
    window.addEventListener('drop', this.#drop);
    window.addEventListener('focus', this.#lookAgain);
    this.#address = new Address(() => void this.#goTo());
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('dragover', this.#dragOver);
    window.removeEventListener('dragleave', this.#dragLeave);
    window.removeEventListener('drop', this.#drop);
    window.removeEventListener('focus', this.#lookAgain);
    this.#address?.dispose();
    this.own?.dispose();
  }

  /** The inspection on show: that of an opened file, or of the page's own sessions. */
  get #inspection(): Inspection | undefined {
    return this.isShowingFile ? this.opened?.inspection : this.own;
  }

  protected override render(): TemplateResult {
    const inspection = this.#inspection;
    return html`<nav class="skip" aria-label="Skip to">
        ${PARTS.map(([name, find]) => html`<a href="#" @click=${(event: Event) => this.#skipTo(event, find)}>${name}</a>`)}
      </nav>
      <header>
        <h1>statepad</h1>
        <p class="about">
          Look inside an AI agent’s session: play a conversation, step through its events, and see the state at every moment.
          <a href=${GUIDE} target="_blank">Guide</a><a href=${CRATE} target="_blank">In Rust</a>${this.#keptBadge()}
        </p>
        <div class="row spread">
          <span class="row"
            ><label class="quiet" for="theme">Theme</label>
            <select id="theme" @change=${this.#chooseTheme}>
              ${THEMES.map((name) => html`<option ?selected=${name === this.theme}>${name}</option>`)}
            </select></span
          >
          <input id="file" class="hidden" type="file" accept=".jsonl,.ndjson,.json,.txt" tabindex="-1" aria-label="A file with sessions" @change=${this.#choose} />
          <button @click=${() => this.renderRoot.querySelector<HTMLInputElement>('#file')?.click()}>Open file…</button>
          <button ?disabled=${this.isEmpty} @click=${() => void this.#download()}>Download</button>
        </div>
      </header>
      <statepad-notices .notices=${this.#allNotices()} @dismiss=${this.#dismiss}></statepad-notices>
      <main>
        <section class="panel talk" id="talk-part" tabindex="-1" aria-labelledby="talk">
          <statepad-talk .inspection=${inspection}><h2 id="talk" slot="title">Conversation</h2></statepad-talk>
        </section>
        <statepad-inspector docked .inspection=${inspection}></statepad-inspector>
      </main>
      ${this.isOver ? html`<div class="over">Drop a file with sessions to look into it</div>` : nothing}`;
  }

  #skipTo(event: Event, find: string): void {
    event.preventDefault();
    const inspector = this.renderRoot.querySelector<LitElement>('statepad-inspector');
    const part =
      this.renderRoot.querySelector<HTMLElement>(find) ?? inspector?.renderRoot.querySelector<HTMLElement>(find);
    part?.focus();
    part?.scrollIntoView({ block: 'nearest' });
  }

  #keptBadge(): TemplateResult {
    const storage = this.#storage;
    const isKept = storage?.refusal === undefined;
    const text = storage === undefined ? 'Opening storage…' : isKept ? 'Saved in this browser' : 'Not saved';
    return html`<span class="kept" data-kept=${storage === undefined ? 'unknown' : isKept ? 'yes' : 'no'}>${text}</span>`;
  }

  #allNotices(): readonly Notice[] {
    if (this.opened === undefined || !this.isShowingFile) {
      return this.notices;
    }
    const { name, sessions, events } = this.opened.file;
    const text = `Looking into ${name}, read-only: ${count(sessions.length, 'session')}, ${count(events, 'event')}.`;
    const back: Notice = {
      id: 'file',
      kind: 'info',
      text,
      action: 'Back to your sessions',
      act: () => this.#closeFile(),
    };
    return [back, ...this.notices];
  }

  async #start(): Promise<void> {
    const database = new URLSearchParams(location.search).get('database') ?? DATABASE;
    this.#storage = await openPatiently(database, {
      onTrouble: (trouble) =>
        this.#tell('trouble', trouble === undefined ? undefined : { kind: 'bad', text: troubleText(trouble) }),
      onSlow: (act) => this.#tell('slow', { kind: 'info', text: SLOW, action: 'Continue without saving', act }),
    });
    this.#tell('slow', undefined);
    const { service, watch, refusal, isAnew = false } = this.#storage;
    this.#tell('anew', isAnew ? { kind: 'info', text: ANEW } : undefined);
    if (refusal !== undefined) {
      this.#tell('refused', { kind: 'bad', text: refusalText(refusal) });
    }
    const own = new Inspection(service, { apps: [APP], watch });
    own.addEventListener('change', () => {
      this.isEmpty = own.session === undefined;
      this.#showAddress(own);
    });
    this.#tellProblemsOf(own);
    own.addEventListener('deleted', (event) => {
      const { detail: id } = event as CustomEvent<string>;
      this.#tell('deleted', { kind: 'info', text: `Session ${id} has been deleted, perhaps in another tab.` });
    });
    this.own = own;
    await this.#openFirst(own);
  }

  #tellProblemsOf(inspection: Inspection): void {
    inspection.addEventListener('problem', (event) => {
      const { detail } = event as CustomEvent<unknown>;
      this.#tell('problem', detail === undefined ? undefined : { kind: 'bad', text: reasonOf(detail) });
    });
  }

  /** Shows the session in the address, or the newest one, or a first one. */
  async #openFirst(own: Inspection): Promise<void> {
    await this.#visiting(async () => {
      await own.list();
      const isSettled = await this.#follow();
      const [newest] = own.sessions;
      if (!isSettled || own.session === undefined) {
        await (newest === undefined
          ? own.create({ appName: APP, ...first() })
          : own.open({ appName: newest.appName, userId: newest.userId, sessionId: newest.id }));
      }
    });
  }

  async #goTo(): Promise<void> {
    await this.#visiting(async () => {
      await this.#follow();
    });
  }

  /**
   * Runs a task for the address, after all earlier ones, so that no visit shows parts of another. Afterwards the
   * address is updated.
   */
  async #visiting(task: () => Promise<void>): Promise<void> {
    this.#visits += 1;
    const visit = this.#visited.then(task).catch((error: unknown) => {
      this.#tell('problem', { kind: 'bad', text: reasonOf(error) });
    });
    this.#visited = visit;
    await visit;
    this.#visits -= 1;
    const hash = this.#inspection && hashOf(this.#inspection, this.#fileName);
    if (this.#visits === 0 && hash !== undefined && hash !== location.hash) {
      this.#address?.correct(hash);
    }
  }

  /** Shows the session in the address, and lists its missing parts. Returns true if the session exists. */
  async #follow(): Promise<boolean> {
    const { hash } = location;
    const place = placeFrom(hash);
    this.#tell('link', undefined);
    if (hash === '' || hash === '#') {
      return false;
    }
    if (place === undefined) {
      return this.#isUnknown('The link does not name a session.');
    }
    const { file, userId, sessionId } = place;
    if (file !== undefined && file !== this.opened?.file.name) {
      return this.#isUnknown(
        `The link leads into the file ${file}. Open that file again: the browser does not keep it.`,
      );
    }
    const inspection = file === undefined ? this.own : this.opened?.inspection;
    const isKnown = inspection?.sessions.some(
      (one) => one.appName === place.appName && one.userId === userId && one.id === sessionId,
    );
    if (inspection === undefined || isKnown !== true) {
      return this.#isUnknown(`The link leads to session “${sessionId}” of user “${userId}”, which is not here.`);
    }
    const missing = await visit(inspection, place);
    this.isShowingFile = file !== undefined;
    if (missing.length > 0) {
      this.#isUnknown(missing.join(' '));
    }
    return true;
  }

  #isUnknown(text: string): false {
    this.#tell('link', { kind: 'info', text });
    return false;
  }

  get #fileName(): string | undefined {
    return this.isShowingFile ? this.opened?.file.name : undefined;
  }

  #showAddress(inspection: Inspection): void {
    const hash = hashOf(inspection, this.#fileName);
    if (this.#visits === 0 && hash !== undefined && inspection === this.#inspection) {
      this.#address?.show(hash);
    }
  }

  readonly #lookAgain = (): void => {
    void this.own?.refresh();
  };

  readonly #chooseTheme = (event: Event): void => {
    this.theme = (event.target as HTMLSelectElement).value as Theme;
    chooseTheme(this.theme);
  };

  readonly #choose = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const [file] = input.files ?? [];
    if (file !== undefined) {
      void this.#open(file);
    }
    // The same file can be chosen again.
    input.value = '';
  };

  readonly #dragOver = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes('Files')) {
      event.preventDefault();
      this.isOver = true;
    }
  };

  readonly #dragLeave = (event: DragEvent): void => {
    // Leaving the window, not one of its elements.
    this.isOver = this.isOver && event.relatedTarget !== null;
  };

  readonly #drop = (event: DragEvent): void => {
    const [file] = event.dataTransfer?.files ?? [];
    this.isOver = false;
    if (file !== undefined) {
      event.preventDefault();
      void this.#open(file);
    }
  };

  async #open(file: File): Promise<void> {
    await this.#opening.open(file, async (opened, signal) => await this.#show(opened, signal));
  }

  /** Shows a file that was read. */
  async #show(file: OpenedFile, signal: AbortSignal): Promise<void> {
    const [key] = file.sessions;
    const apps = [...new Set(file.sessions.map(({ appName }) => appName))];
    const inspection = new Inspection(file.service, { apps, readOnly: true });
    try {
      await inspection.list();
      if (key !== undefined) {
        await inspection.open(key);
      }
      signal.throwIfAborted();
    } catch (error) {
      file.close();
      throw error;
    }
    this.#tellProblemsOf(inspection);
    inspection.addEventListener('change', () => this.#showAddress(inspection));
    this.opened?.file.close();
    this.opened = { inspection, file };
    this.isShowingFile = true;
    this.#address?.begin();
    this.#showAddress(inspection);
  }

  #closeFile(): void {
    this.isShowingFile = false;
    this.opened?.inspection.dispose();
    this.opened?.file.close();
    this.opened = undefined;
    if (this.own !== undefined) {
      this.#showAddress(this.own);
    }
  }

  async #download(): Promise<void> {
    const inspection = this.#inspection;
    const appName = inspection?.session?.appName;
    if (inspection !== undefined && appName !== undefined) {
      const lines =
        inspection.service === undefined ? this.opened?.file.lines(appName) : linesOf(inspection.service, appName);
      download((await lines) ?? [], appName);
    }
  }

  readonly #dismiss = (event: CustomEvent<string>): void => {
    this.#tell(event.detail, undefined);
  };

  /** Shows a notice in place of an earlier one of the same id, or removes that. */
  #tell(id: string, notice: Omit<Notice, 'id'> | undefined): void {
    const others = this.notices.filter((other) => other.id !== id);
    if (notice !== undefined || others.length < this.notices.length) {
      this.notices = notice === undefined ? others : [...others, { id, ...notice }];
    }
  }
}

customElements.define('statepad-page', StatepadPage);
