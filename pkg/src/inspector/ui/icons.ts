// Icons: those of Lucide that the inspector uses, drawn as SVG. The bundle has no others.

import {
  ArrowDown,
  ArrowRight,
  ArrowUp,
  Bot,
  Brain,
  Check,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  ChevronsDownUp,
  ChevronsUpDown,
  CircleAlert,
  CircleX,
  Clock,
  Code,
  Coins,
  Copy,
  CornerDownRight,
  Database,
  Diff,
  Ellipsis,
  File,
  GitFork,
  Keyboard,
  KeyRound,
  Layers,
  Link,
  Lock,
  Maximize,
  MessageSquare,
  Minus,
  Monitor,
  Moon,
  PanelBottomClose,
  PanelBottomOpen,
  Pause,
  Pencil,
  Play,
  Plus,
  Radio,
  RotateCcw,
  Search,
  SkipForward,
  Sun,
  Terminal,
  Timer,
  Trash,
  TriangleAlert,
  Undo2,
  User,
  Users,
  Wrench,
  X,
  type IconNode,
} from 'lucide';
import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit';

/** Each icon by its name here. */
const ICONS = {
  agent: Bot,
  alert: CircleAlert,
  back: ChevronLeft,
  branch: CornerDownRight,
  check: Check,
  clock: Clock,
  close: X,
  code: Code,
  collapse: ChevronsDownUp,
  copy: Copy,
  cost: Coins,
  dark: Moon,
  database: Database,
  delete: Trash,
  diff: Diff,
  down: ArrowDown,
  edit: Pencil,
  error: CircleX,
  expand: ChevronsUpDown,
  file: File,
  fit: Maximize,
  fork: GitFork,
  forward: ChevronRight,
  key: KeyRound,
  keyboard: Keyboard,
  layers: Layers,
  light: Sun,
  link: Link,
  live: Radio,
  lock: Lock,
  message: MessageSquare,
  minus: Minus,
  more: Ellipsis,
  now: SkipForward,
  open: ChevronDown,
  'panel-close': PanelBottomClose,
  'panel-open': PanelBottomOpen,
  pause: Pause,
  play: Play,
  plus: Plus,
  replay: RotateCcw,
  rewind: Undo2,
  search: Search,
  system: Monitor,
  terminal: Terminal,
  thought: Brain,
  timer: Timer,
  tool: Wrench,
  transfer: ArrowRight,
  up: ArrowUp,
  user: User,
  users: Users,
  warning: TriangleAlert,
} as const satisfies Readonly<Record<string, IconNode>>;

/** The name of an icon. */
export type IconName = keyof typeof ICONS;

/** Each icon as a template, made once. */
const drawn = new Map<IconName, TemplateResult>();

/**
 * An icon as large as the text beside it, in its colour. It is hidden from assistive technology: a control with no
 * text needs a name of its own. `class="icon"` is styled by `base`.
 */
export function icon(name: IconName): TemplateResult {
  let template = drawn.get(name);
  if (template === undefined) {
    template = html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${shapesOf(name)}</svg>`;
    drawn.set(name, template);
  }
  return template;
}

/** An icon of lines and circles as a path, in a box of 24 by 24: an element that a larger picture can have many of. */
export function pathOf(name: IconName): string {
  const icon: IconNode = ICONS[name];
  return icon
    .map(([, { d, x1, y1, x2, y2, cx, cy, r = 0 }]) => {
      if (d !== undefined) {
        // Its first step may be relative: to the origin, and not to the end of the shape before it.
        return `M0 0${d}`;
      }
      return cx === undefined
        ? `M${x1} ${y1}L${x2} ${y2}`
        : `M${Number(cx) - Number(r)} ${cy}a${r} ${r} 0 1 0 ${2 * Number(r)} 0a${r} ${r} 0 1 0 ${-2 * Number(r)} 0`;
    })
    .join('');
}

function shapesOf(name: IconName): unknown {
  return ICONS[name].map(([tag, attributes]) => (Object.hasOwn(SHAPES, tag) ? SHAPES[tag]?.(attributes) : nothing));
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The elements that icons are made of. */
const SHAPES: Readonly<Record<string, (attributes: Attributes) => SVGTemplateResult>> = {
  path: ({ d }) => svg`<path d=${d} />`,
  circle: ({ cx, cy, r }) => svg`<circle cx=${cx} cy=${cy} r=${r} />`,
  ellipse: ({ cx, cy, rx, ry }) => svg`<ellipse cx=${cx} cy=${cy} rx=${rx} ry=${ry} />`,
  line: ({ x1, x2, y1, y2 }) => svg`<line x1=${x1} x2=${x2} y1=${y1} y2=${y2} />`,
  rect: ({ x, y, width, height, rx = 0 }) =>
    svg`<rect x=${x ?? 0} y=${y ?? 0} width=${width} height=${height} rx=${rx} />`,
  polyline: ({ points }) => svg`<polyline points=${points} />`,
  polygon: ({ points }) => svg`<polygon points=${points} />`,
};
