// The options of commands that work through many sessions.

import type { Option } from '../command.js';

/** The option that leaves older sessions out. */
export const SINCE_OPTION = {
  since: {
    type: 'string',
    value: 'TIME',
    help: 'only sessions with an event since: a time as 2026-01-31T09:30:00Z, or a duration as 90s, 30m, 2h, 3d, 1w',
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The option that leaves out what is only about the work itself. */
export const QUIET_OPTION = {
  quiet: { type: 'boolean', short: 'q', help: 'says nothing about the progress and the counts' },
} as const satisfies Readonly<Record<string, Option>>;
