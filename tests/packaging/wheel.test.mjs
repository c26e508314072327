// The Python package as it is published: its wheel, installed into an environment of its own.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { before, describe, it } from 'node:test';
import { pythonOf, pythonPackage } from '../../scripts/python.mjs';
import { versionsIn } from '../../scripts/release.mjs';
import { filesUnder } from '../../scripts/step.mjs';
import { root, run, temporaryFolder } from './project.mjs';

/** The most bytes of the wheel. */
const MOST = 150_000;
const LICENCES = ['LICENSE-APACHE', 'LICENSE-MIT'];

const sources = join(pythonPackage, 'src');

/** The files of tests/cases that its suite for session services reads. */
const SHARED_CASES = ['delta', 'scope', 'session', 'sessions'];
const version = versionsIn(root)['python/pyproject.toml'];
const about = `statepad-${version}.dist-info`;

/** Prints a wheel: its files, and the texts of those that describe it. */
const CONTENTS = `
import json, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
texts = {name: wheel.read(name).decode() for name in names if ".dist-info/" in name}
print(json.dumps({"names": names, "texts": texts}))
`;

/** Prints what an environment has of the package, when it has only what the package needs. */
const INSTALLED = `
import importlib, importlib.metadata, importlib.util, json, pkgutil, statepad, sys
from importlib.resources import files

def is_found(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False

apart = ("statepad.adk", "statepad.testing")
modules = [module.name for module in pkgutil.walk_packages(statepad.__path__, "statepad.") if not module.name.startswith(apart)]
for name in modules:
    importlib.import_module(name)
print(json.dumps({
    "version": importlib.metadata.version("statepad"),
    "adk": is_found("google.adk"),
    "google": [name for name in sys.modules if name.startswith("google")],
    "typed": files("statepad").joinpath("py.typed").is_file(),
    "public": [name for name in statepad.__all__ if not hasattr(statepad, name)],
    "modules": len(modules),
}))
`;

/** A program of a user, whose types are checked against the wheel. */
const CONSUMER = `
from statepad import Client

async def topic(client: Client) -> object:
    session = await client.get_session("shop", "ana", "s1")
    return None if session is None else session.state["topic"]
`;

describe('the wheel', () => {
  const folder = temporaryFolder();
  let tools;
  let wheel;
  let contents;
  let installed;

  before(async () => {
    tools = await pythonOf('newest');
    const built = join(folder, 'dist');
    await run(tools, ['-m', 'hatchling', 'build', '-d', built], { cwd: pythonPackage });
    assert.deepEqual(readdirSync(built).sort(), [
      `statepad-${version}-py3-none-any.whl`,
      `statepad-${version}.tar.gz`,
    ]);
    wheel = join(built, `statepad-${version}-py3-none-any.whl`);
    contents = JSON.parse(await run(tools, ['-c', CONTENTS, wheel]));
  });

  /** The values of a member of the metadata. */
  const metadata = (name) => {
    const [head] = contents.texts[`${about}/METADATA`].split('\n\n');
    return [...head.matchAll(new RegExp(`^${name}: (.*)$`, 'gm'))].map(([, value]) => value);
  };

  it('holds the sources, the mark of typed packages and the licences, and nothing else', () => {
    const expected = filesUnder(join(sources, 'statepad'))
      .map((path) => relative(sources, path).split(sep).join('/'))
      .filter((path) => !path.includes('__pycache__'));
    assert.ok(expected.includes('statepad/py.typed'));
    expected.push(...SHARED_CASES.map((name) => `statepad/testing/cases/shared/${name}.json`));
    const described = contents.names.filter((name) => name.startsWith(about));
    assert.deepEqual(contents.names.filter((name) => !name.startsWith(about)).sort(), expected.sort());
    const licences = LICENCES.map((name) => `licenses/${name}`);
    const standard = ['METADATA', 'WHEEL', 'RECORD', ...licences].map((name) => `${about}/${name}`);
    assert.deepEqual(described.filter((name) => name !== `${about}/entry_points.txt`).sort(), standard.sort());
  });

  it('has the licences of the repository', () => {
    for (const name of LICENCES) {
      const own = readFileSync(join(root, name), 'utf8');
      assert.equal(readFileSync(join(pythonPackage, name), 'utf8'), own);
      assert.equal(contents.texts[`${about}/licenses/${name}`], own);
    }
    assert.deepEqual(metadata('License-Expression'), ['MIT OR Apache-2.0']);
    assert.deepEqual(metadata('License-File').sort(), LICENCES);
  });

  it('is pure, needs Python 3.11 and httpx alone, and has google-adk as an extra', () => {
    const { [`${about}/WHEEL`]: described } = contents.texts;
    assert.match(described, /^Root-Is-Purelib: true$/m);
    assert.deepEqual(described.match(/^Tag: .*$/gm), ['Tag: py3-none-any']);
    assert.deepEqual(metadata('Requires-Python'), ['>=3.11']);
    const needs = metadata('Requires-Dist');
    assert.deepEqual(
      needs.filter((need) => !need.includes('extra ==')),
      ['httpx<1,>=0.27'],
    );
    assert.ok(needs.includes("google-adk<3,>=2.0; extra == 'adk'"));
  });

  it('is the same when it is built from the source distribution', async () => {
    const archive = join(folder, 'dist', `statepad-${version}.tar.gz`);
    await run('tar', ['-xzf', archive, '-C', folder]);
    const built = join(folder, 'again');
    await run(tools, ['-m', 'hatchling', 'build', '-t', 'wheel', '-d', built], {
      cwd: join(folder, `statepad-${version}`),
    });
    const again = JSON.parse(await run(tools, ['-c', CONTENTS, join(built, `statepad-${version}-py3-none-any.whl`)]));
    assert.deepEqual(again.names.sort(), contents.names.toSorted());
    assert.equal(again.texts[`${about}/METADATA`], contents.texts[`${about}/METADATA`]);
  });

  it(`has less than ${MOST / 1_000} kB`, (t) => {
    const { size } = statSync(wheel);
    t.diagnostic(`${size} bytes, ${contents.names.length} files`);
    assert.ok(size < MOST, `${size} bytes`);
  });

  it('has a page for PyPI whose links lead out of the repository', () => {
    const [head, ...page] = contents.texts[`${about}/METADATA`].split('\n\n');
    assert.match(head, /^Description-Content-Type: text\/markdown$/m);
    const links = [...page.join('\n\n').matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target);
    assert.deepEqual(
      links.filter((target) => !target.startsWith('https://')),
      [],
    );
  });

  describe('in an environment with the oldest httpx and without google-adk', () => {
    before(async () => {
      installed = join(folder, 'environment', 'bin', 'python');
      const hash = createHash('sha256').update(readFileSync(wheel)).digest('hex');
      const wanted = join(folder, 'requirements.txt');
      const lock = readFileSync(join(pythonPackage, 'requirements', 'bare.txt'), 'utf8');
      // A wheel that needed more than the lock file has would be refused.
      writeFileSync(wanted, `${lock}\n${wheel} --hash=sha256:${hash}\n`);
      await run('python3', ['-m', 'venv', join(folder, 'environment')]);
      const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--only-binary', ':all:'];
      await run(installed, ['-m', 'pip', 'install', ...options, '--require-hashes', '-r', wanted]);
    });

    it('all its modules but those for google-adk and for tests are imported', async () => {
      const seen = JSON.parse(await run(installed, ['-I', '-c', INSTALLED], { cwd: folder }));
      const { modules, ...rest } = seen;
      assert.ok(modules > 5);
      assert.deepEqual(rest, { version, adk: false, google: [], typed: true, public: [] });
    });

    it('a program of a user is checked by its types, strictly', async () => {
      const project = join(folder, 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'consumer.py'), CONSUMER);
      const checked = ['-m', 'mypy', '--strict', '--python-executable', installed, 'consumer.py'];
      assert.match(await run(tools, checked, { cwd: project }), /^Success/);
      writeFileSync(join(project, 'consumer.py'), CONSUMER.replace('"shop", ', '5, '));
      await assert.rejects(run(tools, checked, { cwd: project }), /\[arg-type\]/);
    });

    it('google-adk is named where its session service is asked for without it', async () => {
      const asked = run(installed, ['-I', '-c', 'import statepad.adk'], { cwd: folder });
      await assert.rejects(asked, /pip install ['"]?statepad\[adk\]/);
    });
  });
});
