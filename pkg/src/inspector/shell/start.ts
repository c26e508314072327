// The inspector before a session is on show: a way to the first one.

import { html, type TemplateResult } from 'lit';
import type { Inspection } from '../model/inspection.js';
import { icon } from '../ui/icons.js';
import { reasonOf } from '../ui/reason.js';
import type { Shell } from './commands.js';

const EXAMPLE = `const session = await service.createSession({ appName: 'trips', userId: 'ana' });
await service.appendEvent({
  session,
  event: { author: 'user', actions: { stateDelta: { city: 'Lisbon' } } },
});`;

/** The page in place of the panes: the choice of a session, or the way to write the first one. */
export function startOf(inspection: Inspection | undefined, shell: Shell): TemplateResult {
  const hasSessions = inspection !== undefined && inspection.sessions.length > 0;
  return html`<div class="start" tabindex="0" role="region" aria-label="No session">
    ${hasSessions ? choose(shell) : write(inspection, shell)}
  </div>`;
}

function choose(shell: Shell): TemplateResult {
  return html`${icon('database')}
    <h2>No session is chosen</h2>
    <p>Choose one to see its conversation, its state at every moment, and the prompts of its agent.</p>
    <button class="main" @click=${() => shell.openSessions()}>Choose a session</button>`;
}

function write(inspection: Inspection | undefined, shell: Shell): TemplateResult {
  return html`${icon('database')}
    <h2>There is no session yet</h2>
    <p>Sessions appear here as soon as an agent writes them. A program writes one like this:</p>
    <pre tabindex="0" role="group" aria-label="Example"><code>${EXAMPLE}</code></pre>
    ${
      inspection?.canWrite === true
        ? html`<button class="main" @click=${() => create(inspection, shell)}>${icon('plus')} New session</button>`
        : html`<p>This view only reads.</p>`
    }`;
}

async function create(inspection: Inspection, shell: Shell): Promise<void> {
  try {
    const { apps } = inspection.directory;
    await inspection.create({ appName: apps[0] ?? 'app', userId: 'user' });
  } catch (error) {
    shell.say(reasonOf(error));
  }
}
