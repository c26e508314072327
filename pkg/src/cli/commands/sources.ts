// The parts of the help of commands that take any address: all of them have the same ones.

import { ADDRESS_FORMS } from '../addresses.js';
import type { HelpSection, Option } from '../command.js';

/** The addresses. */
export const ADDRESSES: HelpSection = {
  title: 'Addresses',
  rows: ADDRESS_FORMS.map(({ form, meaning }) => [form, meaning] as const),
};

/** The options that say how an address is opened. */
export const SOURCE_OPTIONS = {
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'the file that has the token for a server, and nothing else; without it STATEPAD_TOKEN is sent, if it is set',
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The options that say which sessions are meant. */
export const FILTER_OPTIONS = {
  app: {
    type: 'string',
    value: 'APP',
    multiple: true,
    help: 'only these apps: a name, or a pattern as shop*; repeatable',
  },
  user: { type: 'string', value: 'USER', multiple: true, help: 'only these users; a name or a pattern; repeatable' },
  session: {
    type: 'string',
    value: 'ID',
    multiple: true,
    help: 'only these sessions; an id or a pattern; repeatable',
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The option that hides values. */
export const REDACT_OPTION = {
  redact: {
    type: 'string',
    value: 'PATTERN',
    multiple: true,
    help:
      'hides the values of keys and of members that have such a name, as user:email or *token*; ' +
      'content hides all that was said; repeatable',
  },
} as const satisfies Readonly<Record<string, Option>>;
