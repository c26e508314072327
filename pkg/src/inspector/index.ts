/**
 * The components of the inspector, as custom elements that any page can embed:
 *
 *     import { Inspection } from './inspector/index.js';
 *
 *     const inspection = new Inspection(service, { apps: ['tutor'] });
 *     await inspection.open({ appName: 'tutor', userId: 'ana', sessionId: 's1' });
 *     document.querySelector('statepad-state').inspection = inspection;
 *
 * Each component has the one property `inspection`; components with the same one move together. They draw in their own
 * shadow trees, in the colours of `style.ts`, which a page may set with `--sp-*` properties.
 */

export { Inspection, type InspectionOptions } from './model/inspection.js';
export type { SessionReader } from './model/reader.js';
export { InspectorElement } from './ui/inspector-element.js';
export { base } from './ui/style.js';
export { StatepadTemplate } from './template/template.js';
export { readJson, type Verdict } from './state/json-input.js';
export { contains, marked, showText, showValue, StatepadValue, type ValueOptions } from './ui/value.js';
export { StatepadEvent } from './events/event.js';
export { StatepadEvents } from './events/events.js';
export { StatepadMoment } from './timeline/moment.js';
export { StatepadTimeline } from './timeline/timeline.js';
export { StatepadState } from './state/state.js';
export { StatepadKeyEditor, type Draft } from './state/key-editor.js';
export { StatepadHistory } from './state/history.js';
export { StatepadSearch } from './events/search.js';
export { StatepadSessions } from './sessions.js';
export { StatepadInspector } from './inspector.js';
