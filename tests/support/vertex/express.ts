// Express mode, in which an API key stands for a project.

import { hash } from './shuffle.ts';
import type { Target } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';

/** A target of express mode with the project that belongs to an API key, where it is. */
export function withProject(target: Target, key: string): Target {
  const isExpress = target.project === '';
  return isExpress ? { ...target, project: String(200_000_000_000 + hash(key)), location: 'us-central1' } : target;
}
