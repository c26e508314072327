/**
 * The parts of the inspector, as custom elements that any page can embed:
 *
 *     import { Inspection } from './inspector/index.js';
 *
 *     const inspection = new Inspection(service, { apps: ['tutor'] });
 *     await inspection.open({ appName: 'tutor', userId: 'ana', sessionId: 's1' });
 *     document.querySelector('statepad-state').inspection = inspection;
 *
 * Each part has the one property `inspection`; parts that are given the same one move together. They draw in their own
 * shadow trees, in the colours of `style.ts`, which a page may set with `--sp-*` properties.
 */

export { Inspection, type InspectionOptions } from './inspection.js';
export { InspectorPart } from './follow.js';
export { base } from './style.js';
export { StatepadTemplate } from './template.js';
export { readJson, type Verdict } from './json.js';
export { contains, marked, showText, showValue, StatepadValue, type ValueOptions } from './value.js';
export { StatepadEvent } from './event.js';
export { StatepadEvents } from './events.js';
export { StatepadMoment } from './moment.js';
export { StatepadTimeline } from './timeline.js';
export { StatepadState } from './state.js';
export { StatepadKeyEditor, type Draft } from './key-editor.js';
export { StatepadHistory } from './history.js';
export { StatepadSearch } from './search.js';
export { StatepadSessions } from './sessions.js';
export { StatepadInspector } from './inspector.js';
