// The time when a session expires.

import { html, type TemplateResult } from 'lit';
import type { Session } from '../../index.js';
import { durationText } from '../ui/amounts.js';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A line with the end of a session, and the time until then; `undefined` where it does not expire. */
export function expiryOf(session: Session | undefined): TemplateResult | undefined {
  const { expireTime } = session ?? {};
  const date = new Date(expireTime ?? NaN);
  if (expireTime === undefined || Number.isNaN(date.getTime())) {
    return undefined;
  }
  const left = expireTime - Date.now();
  const iso = date.toISOString();
  return html`<p class="expiry quiet">
    ${left > 0 ? 'Expires' : 'Expired'} <time datetime=${iso} title=${iso}>${DATE.format(date)}</time>${left > 0 ? `, in ${durationText(left)}` : ''}
  </p>`;
}
