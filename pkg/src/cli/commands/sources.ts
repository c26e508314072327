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
    help: 'the file with the token for a server, and nothing else; without it STATEPAD_TOKEN is sent, if it is set',
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The options that say which sessions are meant. */
export const FILTER_OPTIONS = {
  app: {
    type: 'string',
    value: 'NAME',
    multiple: true,
    help: 'only this app; * in a name stands for any text; repeatable',
  },
  user: { type: 'string', value: 'NAME', multiple: true, help: 'only this user, in the same way' },
  session: { type: 'string', value: 'ID', multiple: true, help: 'only this session, in the same way' },
} as const satisfies Readonly<Record<string, Option>>;

/** The option that hides values. */
export const REDACT_OPTION = {
  redact: {
    type: 'string',
    value: 'NAME',
    multiple: true,
    help:
      'hides the values of keys and members of this name, as user:email or *token*; ' +
      'content hides all that events say; repeatable',
  },
} as const satisfies Readonly<Record<string, Option>>;
