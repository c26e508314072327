// By which names a change moves the app's and the user's values.

import { namesOf } from './operators.js';
import { toColumn } from '../shared/column-text.js';
import { namesIn } from '../shared/values.js';
import type { Change } from '../../store/contract.js';

/** The names that a change writes or deletes in a scope, as columns; null when there are none: it is not moved. */
export function movedNames({ delta, operators }: Change, part: 'app' | 'user'): readonly string[] | null {
  const names = [...namesIn(delta[part] ?? {}), ...namesOf(operators, part)];
  return names.length === 0 ? null : [...new Set(names)].map(toColumn);
}
