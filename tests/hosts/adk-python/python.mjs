// adk-python, as its own project has it.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, run } from '../../packaging/project.mjs';
import { pythonWith } from '../../support/python.mjs';

const hosts = join(root, 'tests', 'hosts');
const here = join(hosts, 'adk-python');

/**
 * Answers the path of a Python that has what requirements.txt of a host names, and installs it first where it is not
 * there.
 */
export async function adkPython(host = 'adk-python') {
  return join(await pythonWith(host, join(hosts, host, 'requirements.txt')), 'bin', 'python');
}

/** The output of a script of this folder. */
export async function printedBy(script) {
  const python = await adkPython();
  return await run(python, ['-W', 'ignore', join(here, script)]);
}

/** Starts adk-python's DatabaseSessionService on a schema of a database. */
export async function startHost(url, schema) {
  const address = url.replace(/^postgres(ql)?:/, 'postgresql+asyncpg:');
  return await start(await adkPython(), 'host.py', address, schema);
}

/** Starts adk-python's VertexAiSessionService over a server at an address. */
export async function startVertex(address, { project, location }) {
  return await start(await adkPython(), 'vertex.py', address, project, location);
}

/**
 * Starts the VertexAiSessionService of a host's adk-python against a server. `token` is its key, `appName` the app
 * whose sessions it has; with `httpx` it does without aiohttp. Answers `ask(name, request)` for the commands of
 * client.py, `stop()`, and `kill()`.
 */
export async function startAtServer(host, url, { token = 'token', appName, httpx = false }) {
  const args = [url, token, appName, ...(httpx ? ['httpx'] : [])];
  const { ask, ...ends } = await start(await adkPython(host), 'client.py', ...args);
  return { ask: (name, request) => ask({ call: name, ...request }), ...ends };
}

/**
 * Starts a script of this folder that takes commands. They are carried out one after the other: `ask` answers what the
 * service does, and throws an error with the name of what it throws.
 */
async function start(python, script, ...args) {
  const child = spawn(python, ['-W', 'ignore', join(here, script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => child.once('close', resolve));
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the process of adk-python has ended');
    return value;
  };
  let turn = next();
  await turn;
  const ask = (command) => {
    const answer = turn.then(async () => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return JSON.parse(await next());
    });
    turn = answer.catch(() => {});
    return answer.then(({ error, message, answer: given }) => {
      if (error) throw Object.assign(new Error(message), { name: error });
      return given;
    });
  };
  const stop = async () => {
    child.stdin.end();
    await ended;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { ask, stop, kill };
}
