// The panes of the inspector, and their places on screens of different sizes.

import { html, type TemplateResult } from 'lit';
import type { Inspection } from '../model/inspection.js';
import type { IconName } from '../ui/icons.js';
import '../conversation/conversation.js';
import '../details/details.js';
import '../state/history.js';
import '../state/state.js';
import '../template/prompt.js';

/** The names of the panes. */
export const PANES = ['conversation', 'prompt', 'state', 'details'] as const;

/** The name of a pane. */
export type PaneName = (typeof PANES)[number];

/** A pane: its title, and its element. */
interface Pane {
  readonly title: string;
  readonly icon: IconName;
  readonly view: (inspection: Inspection | undefined) => TemplateResult;
}

/** Each pane by its name. */
export const PANE: Readonly<Record<PaneName, Pane>> = {
  conversation: {
    title: 'Conversation',
    icon: 'message',
    view: (inspection) => html`<statepad-conversation .inspection=${inspection}></statepad-conversation>`,
  },
  prompt: {
    title: 'Prompt',
    icon: 'terminal',
    view: (inspection) => html`<statepad-prompt .inspection=${inspection}></statepad-prompt>`,
  },
  state: {
    title: 'State',
    icon: 'layers',
    view: (inspection) => html`<statepad-state .inspection=${inspection}></statepad-state>`,
  },
  details: {
    title: 'Details',
    icon: 'search',
    view: (inspection) => html`<statepad-details .inspection=${inspection}></statepad-details>`,
  },
};

/** The shapes of the inspector, by the size of its box. */
export type Shape = 'tall' | 'wide' | 'middle' | 'narrow';

/** The groups of panes in each shape. The panes of a group share a place: tabs choose the one on show. */
export const GROUPS: Readonly<Record<Shape, readonly (readonly PaneName[])[]>> = {
  tall: [['conversation'], ['state'], ['details'], ['prompt']],
  wide: [['conversation', 'prompt'], ['state'], ['details']],
  middle: [
    ['conversation', 'prompt'],
    ['state', 'details'],
  ],
  narrow: [['conversation', 'state', 'prompt', 'details']],
};

/** The least sizes of the shapes, in px; the first one that fits is taken. */
const SIZES: readonly { readonly shape: Shape; readonly width: number; readonly height: number }[] = [
  { shape: 'tall', width: 940, height: 800 },
  { shape: 'wide', width: 940, height: 0 },
  { shape: 'middle', width: 640, height: 0 },
];

/** The shape for a box of a size in px. */
export function shapeFor(width: number, height: number): Shape {
  return SIZES.find((size) => width >= size.width && height >= size.height)?.shape ?? 'narrow';
}
