// adk-python and adk-js store the members of events in snake case: as ADK's JSON has them, they are in camel case.

import { put } from '../model/json.js';
import type { Members } from '../jsonl/members.js';

/** Where members are not names of ADK but keys of users: as paths of members, an asterisk at any depth. */
const OF_PYTHON = [
  'actions.state_delta',
  'actions.artifact_delta',
  'actions.requested_tool_confirmations',
  'actions.agent_state',
  'actions.set_model_response',
  'actions.route',
  'custom_metadata',
  'output',
  '*.function_call.args',
  '*.function_response.response',
  '*.tool_call.args',
  '*.tool_response.response',
  '*.part_metadata',
  '*.render_ui_widgets.payload',
  '*.scopes',
  '*.additional_headers',
];
/** What adk-python has under ids of calls: the ids are not renamed, what is under them is. */
const BY_ID = 'actions.requested_auth_configs';
const OF_JS = [
  'actions.state_delta',
  'actions.artifact_delta',
  'actions.requested_auth_configs',
  'actions.requested_tool_confirmations',
  'actions.custom_metadata',
  'actions.agent_state',
  'custom_metadata',
  'content.parts.function_call.args',
  'content.parts.function_response.response',
  'output',
  'route',
];

/** In the place of an id in a path. */
const ID = '.';

/**
 * The member of an event, or of a part of it, under the name that ADK's JSON has. An underscore at the end keeps a
 * member of Python from being a word of the language.
 */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()).replace(/_$/, '');
}

type IsKept = (path: string) => boolean;

function kept(paths: readonly string[]): IsKept {
  const whole = new Set(paths.filter((path) => !path.startsWith('*')));
  const ends = paths.filter((path) => path.startsWith('*')).map((path) => path.slice(1));
  return (path) => whole.has(path) || ends.some((end) => `.${path}`.endsWith(end));
}

/** An event, or one of its members at `path`, as adk-python has it in JSON. Under keys of users nothing is renamed. */
export const fromPython: Rename = renamer(kept(OF_PYTHON), BY_ID);

/** An event as adk-js reads it. */
export const fromJs: Rename = renamer(kept(OF_JS));

/** Gives the members of an event their names. `path` is where in the event it is. */
export type Rename = (value: unknown, path?: string) => unknown;

function renamer(isKept: IsKept, byId?: string): Rename {
  const rename = (value: unknown, path = ''): unknown => {
    if (typeof value !== 'object' || value === null || isKept(path)) {
      return value;
    }
    if (Array.isArray(value)) {
      return value.map((item) => rename(item, path));
    }
    const renamed: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value as Members)) {
      const under = path === byId ? path + ID : path === '' ? name : `${path}.${name}`;
      put(renamed, path === byId ? name : camelCase(name), rename(member, under));
    }
    return renamed;
  };
  return rename;
}
