// adk-js stores the members of events in snake case, and reads them in camel case.

import { put } from '../model/json.js';
import type { Members } from '../jsonl/members.js';

/** Paths whose members are keys of users, not names of ADK: nothing is renamed there, or deeper. */
const KEPT: ReadonlySet<string> = new Set([
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
]);

/** An event as adk-js reads it, or the part of it at a path. */
export function fromJs(value: unknown, path = ''): unknown {
  if (typeof value !== 'object' || value === null || KEPT.has(path)) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => fromJs(item, path));
  }
  const renamed: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value as Members)) {
    put(renamed, camelCase(name), fromJs(member, path === '' ? name : `${path}.${name}`));
  }
  return renamed;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
