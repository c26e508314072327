// The page: a conversation at the left, the inspector at the right, and what concerns both above them.

import { LitElement, css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { Inspection } from '../inspector/model/inspection.js';
import { reasonOf } from '../inspector/ui/reason.js';
import { base } from '../inspector/ui/style.js';
import '../inspector/inspector.js';
import { BrokenFile, download, openFile, type OpenedFile } from './files.js';
import { hashOf, placeFrom } from './place.js';
import { APP, openStorage, refusalText, troubleText, type Storage } from './storage.js';
import './notices.js';
import './talk.js';
import type { Notice } from './notices.js';
import { chooseTheme, theme, THEMES, type Theme } from './theme.js';
import { first } from './agent.js';

/** The name of the database, unless the address has another (`?database=name`). */
const DATABASE = 'statepad-demo';

/** The whole page. */
export class StatepadPage extends LitElement {
  static override properties: PropertyDeclarations = {
    own: { state: true },
    opened: { state: true },
    notices: { state: true },
    isEmpty: { state: true },
    isOver: { state: true },
    theme: { state: true },
  };
  static override styles = [
    base,
    css`
      :host {
        min-height: 100vh;
        font-size: 0.875rem;
      }

      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.5rem 0.75rem;
        border-block-end: 1px solid var(--line);
        padding: 0.6rem 1rem;
        background: var(--paper);
      }

      h1 {
        margin: 0;
        font-size: 1.125rem;
        font-weight: 700;
        letter-spacing: -0.01em;
      }

      .kept::before {
        display: inline-block;
        width: 0.55em;
        height: 0.55em;
        margin-inline-end: 0.4em;
        border-radius: 50%;
        background: var(--user);
        content: '';
      }

      .kept[data-kept='no']::before {
        border-radius: 1px;
        background: var(--bad);
      }

      main {
        display: grid;
        gap: 1rem;
        max-width: 120rem;
        margin: 0 auto;
        padding: 1rem;
      }

      @media (min-width: 68rem) {
        main {
          grid-template-columns: minmax(20rem, 27rem) minmax(0, 1fr);
          align-items: start;
        }
      }

      @media (max-width: 30rem) {
        header,
        main {
          padding-inline: 0.5rem;
        }
      }

      .over {
        position: fixed;
        z-index: 9;
        inset: 0.75rem;
        display: grid;
        place-items: center;
        border: 3px dashed var(--accent);
        border-radius: 12px;
        background: color-mix(in srgb, var(--paper) 88%, transparent);
        font-size: 1.25rem;
        pointer-events: none;
      }
    `,
  ];
  declare private own: Inspection | undefined;
  declare private opened: { readonly inspection: Inspection; readonly file: OpenedFile } | undefined;
  declare private notices: readonly Notice[];
  /** There is no session yet. */
  declare private isEmpty: boolean;
  declare private isOver: boolean;
  declare private theme: Theme;
  #storage: Storage | undefined;

  constructor() {
    super();
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
    window.addEventListener('hashchange', this.#goTo);
    window.addEventListener('focus', this.#lookAgain);
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('dragover', this.#dragOver);
    window.removeEventListener('dragleave', this.#dragLeave);
    window.removeEventListener('drop', this.#drop);
    window.removeEventListener('hashchange', this.#goTo);
    window.removeEventListener('focus', this.#lookAgain);
    this.own?.dispose();
  }

  /** What is looked at: an opened file, or the page's own sessions. */
  get #inspection(): Inspection | undefined {
    return this.opened?.inspection ?? this.own;
  }

  protected override render(): TemplateResult {
    const inspection = this.#inspection;
    return html`<header>
        <h1>statepad</h1>
        ${this.#keptBadge()}
        <div class="row spread">
          <span class="row"
            ><label class="quiet" for="theme">Theme</label>
            <select id="theme" @change=${this.#chooseTheme}>
              ${THEMES.map((name) => html`<option ?selected=${name === this.theme}>${name}</option>`)}
            </select></span
          >
          <input id="file" class="hidden" type="file" accept=".jsonl,.ndjson,.json,.txt" tabindex="-1" aria-label="A file of JSON lines" @change=${this.#choose} />
          <button @click=${() => this.renderRoot.querySelector<HTMLInputElement>('#file')?.click()}>Open file…</button>
          <button ?disabled=${this.isEmpty} @click=${() => void this.#download()}>Download</button>
        </div>
      </header>
      <statepad-notices .notices=${this.#allNotices()} @dismiss=${this.#dismiss}></statepad-notices>
      <main>
        <section class="panel" aria-labelledby="talk">
          <h2 id="talk">Talk</h2>
          <statepad-talk .inspection=${inspection}></statepad-talk>
        </section>
        <statepad-inspector .inspection=${inspection}></statepad-inspector>
      </main>
      ${this.isOver ? html`<div class="over">Drop a file of JSON lines to inspect it</div>` : nothing}`;
  }

  #keptBadge(): TemplateResult | typeof nothing {
    if (this.#storage === undefined) {
      return nothing;
    }
    const isKept = this.#storage.refusal === undefined;
    return html`<span class="kept quiet" data-kept=${isKept ? 'yes' : 'no'}>${isKept ? 'kept in this browser' : 'in memory only'}</span>`;
  }

  #allNotices(): readonly Notice[] {
    if (this.opened === undefined) {
      return this.notices;
    }
    const { name, sessions, events } = this.opened.file;
    const text = `Inspecting ${name}, read-only: ${count(sessions.length, 'session')}, ${count(events, 'event')}.`;
    const back: Notice = {
      id: 'file',
      kind: 'info',
      text,
      action: 'Back to the own sessions',
      act: () => this.#closeFile(),
    };
    return [back, ...this.notices];
  }

  async #start(): Promise<void> {
    const database = new URLSearchParams(location.search).get('database') ?? DATABASE;
    this.#storage = await openStorage(database, (trouble) => {
      this.#tell('trouble', trouble === undefined ? undefined : { kind: 'bad', text: troubleText(trouble) });
    });
    const { service, watch, refusal } = this.#storage;
    if (refusal !== undefined) {
      this.#tell('refused', { kind: 'bad', text: refusalText(refusal) });
    }
    const own = new Inspection(service, { apps: [APP], watch });
    own.addEventListener('change', () => {
      this.isEmpty = own.session === undefined;
      if (own.session !== undefined && this.opened === undefined) {
        showInAddress(hashOf(own.session));
      }
    });
    own.addEventListener('problem', (event) => {
      const { detail } = event as CustomEvent<unknown>;
      this.#tell('problem', detail === undefined ? undefined : { kind: 'bad', text: reasonOf(detail) });
    });
    own.addEventListener('deleted', (event) => {
      const { detail: id } = event as CustomEvent<string>;
      this.#tell('deleted', {
        kind: 'info',
        text: `Session ${id} was deleted by somebody else, in another tab perhaps.`,
      });
    });
    this.own = own;
    await this.#openFirst(own);
  }

  /** The session that the address names, or the newest one, or a first one. */
  async #openFirst(own: Inspection): Promise<void> {
    try {
      await own.list();
      const named = placeFrom(location.hash);
      const isNamed = own.sessions.find(
        ({ appName, userId, id }) => appName === named?.appName && userId === named.userId && id === named.sessionId,
      );
      const session = isNamed ?? own.sessions[0];
      await (session === undefined
        ? own.create({ appName: APP, ...first() })
        : own.open({ appName: session.appName, userId: session.userId, sessionId: session.id }));
    } catch (error) {
      this.#tell('problem', { kind: 'bad', text: reasonOf(error) });
    }
  }

  readonly #goTo = (): void => {
    const place = placeFrom(location.hash);
    const { appName, userId, id } = this.own?.session ?? {};
    if (place !== undefined && (place.appName !== appName || place.userId !== userId || place.sessionId !== id)) {
      this.own?.open(place).catch((error: unknown) => this.#tell('problem', { kind: 'bad', text: String(error) }));
    }
  };

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
    try {
      const opened = await openFile(file);
      const [key] = opened.sessions;
      const inspection = new Inspection(opened.service, {
        apps: [...new Set(opened.sessions.map(({ appName }) => appName))],
        readOnly: true,
      });
      await inspection.list();
      if (key !== undefined) {
        await inspection.open(key);
      }
      this.opened = { inspection, file: opened };
      this.#tell('broken', undefined);
    } catch (error) {
      const lines =
        error instanceof BrokenFile ? error.problems.map(({ line, reason }) => `line ${String(line)}: ${reason}`) : [];
      this.#tell('broken', { kind: 'bad', text: reasonOf(error), lines });
    }
  }

  #closeFile(): void {
    this.opened?.inspection.dispose();
    this.opened = undefined;
  }

  async #download(): Promise<void> {
    const inspection = this.#inspection;
    if (inspection?.session !== undefined) {
      await download(inspection.service, inspection.session.appName);
    }
  }

  readonly #dismiss = (event: CustomEvent<string>): void => {
    this.#tell(event.detail, undefined);
  };

  /** Shows a notice in place of an earlier one of the same id, or takes that away. */
  #tell(id: string, notice: Omit<Notice, 'id'> | undefined): void {
    const others = this.notices.filter((other) => other.id !== id);
    if (notice !== undefined || others.length < this.notices.length) {
      this.notices = notice === undefined ? others : [...others, { id, ...notice }];
    }
  }
}

/** Has the address name what is looked at. */
function showInAddress(hash: string): void {
  // Even the same one would cost some ms.
  if (location.hash !== hash) {
    history.replaceState(null, '', hash);
  }
}

function count(number: number, of: string): string {
  return `${number.toLocaleString('en')} ${of}${number === 1 ? '' : 's'}`;
}

customElements.define('statepad-page', StatepadPage);
