// The functions that came to version 2 of the tables later: an older process uses the tables without them.

import { literal } from './common.js';
import { APPEND, appendFunction } from './append.js';
import { APPEND_MANY, appendManyFunction } from './append-many.js';

/** The names of the functions, each with the statement that makes it. */
export function quickFunctions(schema: string): readonly (readonly [name: string, statement: string])[] {
  return [
    [APPEND.name, appendFunction(schema)],
    [APPEND_MANY.name, appendManyFunction(schema)],
  ];
}

/** The statements that make those that are missing, where the role may make them. */
export function makeQuickFunctions(schema: string): string {
  const steps = quickFunctions(schema).map(([name, statement]) => {
    return `if not exists (select from pg_proc where pronamespace = ${regnamespace(schema)} and proname = ${literal(name)}) then
      ${statement};
    end if;`;
  });
  return `if has_schema_privilege(${regnamespace(schema)}, 'create') then
    ${steps.join('\n    ')}
  end if;`;
}

/** The expression of the object of a schema, whose name is quoted. */
export function regnamespace(schema: string): string {
  return `to_regnamespace(${literal(schema)})`;
}
