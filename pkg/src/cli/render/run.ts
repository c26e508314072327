// `statepad render`: the instruction that a template gives with the state of a session.

import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { explained, spelled, type Explained, type Moment } from './explanation.js';
import { settingsOf, type RenderSettings } from './settings.js';
import { CommandError, EXIT, MissingError } from '../errors.js';
import { Output } from '../output/output.js';
import { Table } from '../output/table.js';
import { visibleJson } from '../visible.js';
import { isStatepadError, Template, type Placeholder } from '../../index.js';
import { openedToRead } from '../work/reading.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionOperations } from '../../client.js';

/** Prints the instruction, or its explanation. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { secrets } = surroundings;
  const settings = settingsOf(args);
  secrets.hideIn(settings.addressText);
  const text = await templateOf(settings);
  const opened = await openedToRead(settings.address, surroundings, { tokenFile: settings.tokenFile });
  try {
    const moment = await momentOf(opened.source, opened.name, settings);
    const output = new Output();
    const code = settings.explain ? await explain(text, moment, output, settings) : await print(text, moment, output);
    await output.end();
    return code;
  } finally {
    await opened.close();
  }
}

async function templateOf({ template, isText }: RenderSettings): Promise<string> {
  if (isText) {
    return template;
  }
  if (template !== '-') {
    return await readFile(template, 'utf8').catch((error: unknown) => {
      const { code } = error as { readonly code?: string };
      const reason = code === 'ENOENT' ? 'there is no such file; --text takes TEMPLATE as the text itself' : code;
      throw new CommandError(`the template ${template}: ${reason ?? 'it cannot be read'}`, { cause: error });
    });
  }
  let text = '';
  for await (const piece of process.stdin.setEncoding('utf8') as AsyncIterable<string>) {
    text += piece;
  }
  return text;
}

/** The state at the moment that is asked for. Throws `MissingError`. */
async function momentOf(source: SessionOperations, name: string, settings: RenderSettings): Promise<Moment> {
  const { key, at, temp } = settings;
  const session = await source.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (session === undefined) {
    const { appName, userId, sessionId } = key;
    throw new MissingError(`there is no session ${sessionId} of ${userId} in ${appName}, in ${name}`);
  }
  const revision = at ?? session.revision;
  if (revision > session.revision) {
    throw new MissingError(`session ${session.id} has no revision ${revision}: its last one is ${session.revision}`);
  }
  const state = at === undefined ? session.state : await source.stateAt(session, revision);
  return { source, session, revision, state: { ...state, ...temp } };
}

/** Prints the instruction as it is. Throws `MissingError` with each key that is missing. */
async function print(text: string, { state }: Moment, output: Output): Promise<number> {
  try {
    await output.line(new Template(text).render({ state }).replace(/\n$/, ''));
    return EXIT.ok;
  } catch (error) {
    if (isStatepadError(error) && error.missing !== undefined) {
      throw new MissingError(error.message);
    }
    throw error;
  }
}

async function explain(text: string, moment: Moment, output: Output, { json }: RenderSettings): Promise<number> {
  const rows: Explained[] = [];
  for (const placeholder of new Template(text).placeholders) {
    rows.push(await explained(placeholder, textOf(placeholder, moment), moment));
  }
  if (json) {
    for (const row of rows) {
      await output.line(visibleJson(row));
    }
  } else {
    await printTable(rows, output);
  }
  return rows.some((row) => row.text === undefined && !row.optional) ? EXIT.missing : EXIT.ok;
}

/** The text of one placeholder, by a template that has nothing else. */
function textOf({ kind, key, path }: Placeholder, { state }: Moment): string | undefined {
  try {
    const name = kind === 'artifact' ? `artifact.${key}` : spelled(key, path);
    return new Template(`{${name}}`).render({ state });
  } catch (error) {
    if (isStatepadError(error) && error.missing !== undefined) {
      return undefined;
    }
    throw error;
  }
}

async function printTable(rows: readonly Explained[], output: Output): Promise<void> {
  const table = new Table(output, [
    { title: 'PLACE', align: 'right' },
    { title: 'PLACEHOLDER' },
    { title: 'SCOPE' },
    { title: 'REVISION', align: 'right' },
    { title: 'WRITTEN BY', isFlexible: true },
    { title: 'VALUE', isFlexible: true },
  ]);
  for (const { line, column, placeholder, scope, revision, author, by, text, optional } of rows) {
    const missing = optional ? '(missing, optional)' : '(missing)';
    const writer = by ?? (revision === 0 ? 'the creation' : (author ?? ''));
    const place = `${line}:${column}`;
    await table.row([
      place,
      placeholder,
      scope,
      revision === undefined ? '' : String(revision),
      writer,
      text ?? missing,
    ]);
  }
  await table.end();
}
