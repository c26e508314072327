// The inspector: all panes on one screen.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { tokens } from '../ui/tokens.js';
import type { StatepadTimeline } from '../timeline/timeline.js';
import { COMMANDS, type Command, type Shell } from './commands.js';
import { isForWidget, isPressed, isTyped, ownsWindow } from './keys.js';
import { layoutStyle } from './layout-style.js';
import { GROUPS, PANE, PANES, shapeFor, type PaneName, type Shape } from './panes.js';
import { keepSizes, keptSizes, sizesIn, type SizedPart, type Sizes } from './sizes.js';
import { keepTheme, keptTheme, type Theme } from './theme.js';
import type { HeaderTarget } from './header.js';
import { startOf } from './start.js';
import { Waiting } from './waiting.js';
import '../sessions/sessions.js';
import '../timeline/timeline.js';
import './divider.js';
import './header.js';
import './palette.js';
import './shortcuts.js';

/** The time that a notice stays, in ms. */
const SAID_FOR = 4000;

/** The acts of a user. A key press may be followed by a click of its own. */
const ACTS = ['pointerdown', 'keydown', 'click'] as const;

/** An element that opens a dialog. */
type Opener = HTMLElement & { open(): void };

/**
 * The whole inspector. It fills its box: the header, the panes, which scroll by themselves, and the timeline below.
 * In a small box, panes share a place, with tabs.
 */
export class StatepadInspector extends InspectorElement implements Shell {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    theme: { reflect: true },
    box: { state: true },
    front: { state: true },
    chosen: { state: true },
    said: { state: true },
  };
  static override styles = [tokens, base, layoutStyle];
  /** The chosen theme. */
  declare theme: Theme;
  /** The size of the element, in px. */
  declare private box: { readonly width: number; readonly height: number };
  /** All panes, the one that was shown last first. */
  declare private front: readonly PaneName[];
  /** The sizes that the user has chosen. */
  declare private chosen: Partial<Sizes>;
  declare private said: string;
  readonly #resizes = new ResizeObserver(() => this.#measure());
  #saying: ReturnType<typeof setTimeout> | undefined;
  /** The selection that was seen last. */
  #shown: { readonly selected: number | undefined; readonly traced: string | undefined } | undefined;
  /** True when the last thing that the user did was a press in a pane. */
  #isInPanes = false;

  constructor() {
    super();
    new Waiting(this);
    this.theme = keptTheme();
    this.box = { width: 0, height: 0 };
    this.front = PANES;
    this.chosen = keptSizes();
    this.said = '';
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // A click anywhere in it gives it the focus: from then on its shortcuts count.
    this.tabIndex = -1;
    ACTS.forEach((name) => this.addEventListener(name, this.#acted, { capture: true }));
    this.addEventListener('keydown', this.#pressed);
    document.addEventListener('keydown', this.#pressedOutside);
    this.#resizes.observe(this);
    this.#measure();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    ACTS.forEach((name) => this.removeEventListener(name, this.#acted, { capture: true }));
    this.removeEventListener('keydown', this.#pressed);
    document.removeEventListener('keydown', this.#pressedOutside);
    this.#resizes.disconnect();
    clearTimeout(this.#saying);
  }

  #measure(): void {
    const { clientWidth: width, clientHeight: height } = this;
    if (width !== this.box.width || height !== this.box.height) {
      this.box = { width, height };
    }
  }

  get #shape(): Shape {
    return shapeFor(this.box.width, this.box.height);
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const shape = this.#shape;
    return html`<div class="shell">
        <statepad-header
          .inspection=${inspection}
          .theme=${this.theme}
          ?narrow=${shape === 'narrow'}
          @lead=${(event: CustomEvent<HeaderTarget>) => this.#lead(event.detail)}
          @theme=${(event: CustomEvent<Theme>) => this.setTheme(event.detail)}
        ></statepad-header>
        ${inspection?.session === undefined ? startOf(inspection, this) : this.#columns(shape)}
        <section class="timeline" aria-label="Timeline" ?hidden=${inspection?.session === undefined}>
          <statepad-timeline .inspection=${inspection} ?narrow=${shape === 'narrow'}></statepad-timeline>
        </section>
      </div>
      <statepad-sessions .inspection=${inspection}></statepad-sessions>
      <statepad-palette .inspection=${inspection} .shell=${this}></statepad-palette>
      <statepad-shortcuts></statepad-shortcuts>
      <div class="said" role="status">${this.said}</div>`;
  }

  #columns(shape: Shape): TemplateResult {
    const groups = GROUPS[shape];
    const sizes = sizesIn(this.chosen, this.box.width, this.box.height, shape === 'middle');
    const style = { '--left': `${sizes.left}px`, '--right': `${sizes.right}px`, '--below': `${sizes.below}px` };
    return html`<div class="columns" data-shape=${shape} style=${styleMap(style)}>
      ${groups.map((group, place) => this.#head(group, place))}
      ${PANES.map((name) => this.#pane(name, groups))}
      ${shape === 'narrow' ? nothing : this.#divider('left', sizes, 'line-a')}
      ${shape === 'narrow' || shape === 'middle' ? nothing : this.#divider('right', sizes, 'line-b')}
      ${shape === 'tall' ? this.#divider('below', sizes, 'line-c') : nothing}
    </div>`;
  }

  /** The pane of a group that is on show. */
  #active(group: readonly PaneName[]): PaneName | undefined {
    return this.front.find((name) => group.includes(name));
  }

  #head(group: readonly PaneName[], place: number): TemplateResult {
    const style = styleMap({ 'grid-area': `head-${place}` });
    const [only] = group;
    if (group.length === 1 && only !== undefined) {
      // A pane with a place of its own begins with controls that say what it is.
      return html`<h2 class="hidden" id="title-${only}">${PANE[only].title}</h2>`;
    }
    const active = this.#active(group);
    return html`<div class="head" role="tablist" aria-label="Panes" style=${style} @keydown=${this.#turn}>
      ${group.map(
        (name) =>
          html`<button
            role="tab"
            id="title-${name}"
            aria-controls="pane-${name}"
            aria-selected=${String(name === active)}
            tabindex=${name === active ? 0 : -1}
            @click=${() => this.#show(name)}
          >
            ${PANE[name].title}
          </button>`,
      )}
    </div>`;
  }

  #pane(name: PaneName, groups: readonly (readonly PaneName[])[]): TemplateResult {
    const place = groups.findIndex((group) => group.includes(name));
    const group = groups[place] ?? [];
    return html`<div
      class="body"
      id="pane-${name}"
      role=${group.length > 1 ? 'tabpanel' : nothing}
      aria-labelledby=${group.length > 1 ? `title-${name}` : nothing}
      tabindex="-1"
      ?hidden=${this.#active(group) !== name}
      style=${styleMap({ 'grid-area': `body-${place}` })}
    >
      ${group.length > 1 ? html`<h2 class="hidden">${PANE[name].title}</h2>` : nothing}
      ${PANE[name].view(this.inspection)}
    </div>`;
  }

  #divider(part: SizedPart, sizes: Sizes, area: string): TemplateResult {
    const sides = { left: 'before', right: 'after', below: 'below' } as const;
    const labels = { left: 'the left column', right: 'the details', below: 'the prompt' };
    return html`<statepad-divider
      style=${styleMap({ 'grid-area': area })}
      .side=${sides[part]}
      .label=${labels[part]}
      .size=${sizes[part]}
      @resize=${(event: CustomEvent<number | null>) => this.#resize(part, event.detail)}
    ></statepad-divider>`;
  }

  #resize(part: SizedPart, size: number | null): void {
    const others = Object.entries(this.chosen).filter(([name]) => name !== part);
    this.chosen = { ...Object.fromEntries(others), ...(size === null ? {} : { [part]: Math.round(size) }) };
    keepSizes(this.chosen);
  }

  readonly #turn = async (event: KeyboardEvent): Promise<void> => {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tab = event.target as HTMLElement;
    const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="tab"]')];
    const next = way === undefined ? undefined : tabs[(tabs.indexOf(tab) + way + tabs.length) % tabs.length];
    if (next !== undefined) {
      event.preventDefault();
      next.click();
      await this.updateComplete;
      next.focus();
    }
  };

  #show(name: PaneName): void {
    this.front = [name, ...this.front.filter((other) => other !== name)];
  }

  /** Seen before those who act on it: the details come to the front only for what is chosen in a pane. */
  readonly #acted = (event: Event): void => {
    const panes = this.renderRoot.querySelector('.columns');
    this.#isInPanes = event.type !== 'keydown' && panes !== null && event.composedPath().includes(panes);
  };

  /** Brings the details into view when a click has selected something, and moves nothing else. */
  protected override updated(): void {
    const { selected, traced } = this.inspection ?? {};
    const before = this.#shown;
    this.#shown = { selected, traced };
    const isNew =
      before !== undefined &&
      ((selected !== undefined && selected !== before.selected) || (traced !== undefined && traced !== before.traced));
    if (isNew && this.#isInPanes) {
      this.#show('details');
    }
    if (isNew) {
      this.renderRoot.querySelector('#pane-details')?.scrollTo({ top: 0 });
    }
  }

  #lead(target: HeaderTarget): void {
    ({
      sessions: () => this.openSessions(),
      palette: () => this.openPalette(),
      shortcuts: () => this.openShortcuts(),
    })[target]();
  }

  #opener(name: string): Opener | null {
    return this.renderRoot.querySelector<Opener>(name);
  }

  /** Opens the list of sessions. */
  openSessions(): void {
    this.#opener('statepad-sessions')?.open();
  }

  /** Opens the palette of commands. */
  openPalette(): void {
    this.#opener('statepad-palette')?.open();
  }

  /** Opens the sheet of shortcuts. */
  openShortcuts(): void {
    this.#opener('statepad-shortcuts')?.open();
  }

  /** Brings a pane to the front, with the focus. */
  showPane(name: PaneName): void {
    this.#show(name);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#pane-${name}`)?.focus());
  }

  /** Chooses a theme, and keeps it in this browser. */
  setTheme(theme: Theme): void {
    this.theme = theme;
    keepTheme(theme);
    this.dispatchEvent(new CustomEvent('theme', { detail: theme }));
  }

  get #timeline(): StatepadTimeline | null {
    return this.renderRoot.querySelector<StatepadTimeline>('statepad-timeline');
  }

  /** Moves the focus to the field that searches in the session. */
  find(): void {
    this.#timeline?.find();
  }

  /** Plays the session from the moment on, or stops that. */
  play(): void {
    this.#timeline?.play();
  }

  /** Shows a short notice. */
  say(text: string): void {
    clearTimeout(this.#saying);
    this.said = text;
    this.#saying = setTimeout(() => (this.said = ''), SAID_FOR);
  }

  /** Runs a command; a failure becomes a notice. */
  async run(command: Command): Promise<void> {
    try {
      await command.run(this);
    } catch (error) {
      this.say(reasonOf(error));
    }
  }

  readonly #pressed = (event: KeyboardEvent): void => {
    const command = event.defaultPrevented ? undefined : COMMANDS.find((one) => this.#isMeant(one, event));
    if (command !== undefined) {
      event.preventDefault();
      void this.run(command);
    }
  };

  #isMeant({ keys, isArrow = false, suits }: Command, event: KeyboardEvent): boolean {
    if (keys === undefined || !isPressed(event, keys) || !suits(this.inspection)) {
      return false;
    }
    // A dialog that closes keeps the focus, and with it the keys, until its event has come.
    const isInDialog = event.composedPath().some((one) => one instanceof HTMLDialogElement && one.open);
    const isFree = !isTyped(event) && !isInDialog && !(isArrow && isForWidget(event));
    return isFree || (keys.startsWith('mod+') && !isInDialog);
  }

  readonly #pressedOutside = (event: KeyboardEvent): void => {
    if (!event.composedPath().includes(this) && ownsWindow(this)) {
      this.#pressed(event);
    }
  };
}

customElements.define('statepad-inspector', StatepadInspector);
