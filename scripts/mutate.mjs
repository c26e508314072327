// Puts deliberate faults into one file of pkg/src, one at a time, and says which of them no test notices:
//
//   node scripts/mutate.mjs pkg/src/input/admit.ts -- tests/unit/input/admission.test.mjs
//   node scripts/mutate.mjs pkg/src/input/admit.ts --lines 60-120 --jobs 2
//
// Without test files it runs all of tests/unit. The tests run on a copy of the project in a folder for temporary
// files: pkg/dist stays as it is, and has to be there (`node scripts/build.mjs`). A fault that nothing notices is a
// hole in the tests, or no fault at all: look at each.

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { mutantsOf } from './mutants.mjs';
import { bundleInto } from './package.mjs';
import { filesUnder } from './step.mjs';
import { root } from './tools.mjs';

/** The folders that tests read besides the package. */
const COPIED = [
  'tests',
  'docs',
  'examples',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'LICENSE-MIT',
  'LICENSE-APACHE',
];

const { file, tests, jobs, lines } = parse(process.argv.slice(2));
const source = readFileSync(join(root, file), 'utf8');
const mutants = mutantsOf(file, source).filter(({ line }) => line >= lines[0] && line <= lines[1]);
const folder = mkdtempSync(join(tmpdir(), 'statepad-mutants-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));

const copies = Array.from({ length: jobs }, (_, index) => copyProject(join(folder, String(index))));
const [first] = copies;
await bundle(first);
/** @type {{ test: string, time: number }[]} */
const times = [];
for (const test of tests) {
  const begun = Date.now();
  if (!(await passes(first, test, 600_000))) {
    console.error(`${test} fails without any fault`);
    process.exit(1);
  }
  times.push({ test, time: Date.now() - begun });
}
// Quick tests, and those that have the name of the file, go first.
/** @param {string} test */
const near = (test) => (basename(test).startsWith(basename(file, '.ts')) ? 0 : 1);
times.sort((one, other) => near(one.test) - near(other.test) || one.time - other.time);
console.log(
  `${mutants.length} faults in ${file}, ${tests.length} test files, ${Math.ceil(times.reduce((sum, { time }) => sum + time, 0) / 1000)} s each at most`,
);

/** @type {import('./mutants.mjs').Mutant[]} */
const survivors = [];
const waiting = [...mutants];
await Promise.all(
  copies.map(async (copy) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      if (await survives(copy, mutant)) {
        survivors.push(mutant);
        console.log(`survived: ${describe(mutant)}`);
      }
    }
  }),
);
survivors.sort((one, other) => one.line - other.line);
console.log(`\n${mutants.length - survivors.length} of ${mutants.length} faults were noticed; not these:`);
survivors.forEach((mutant) => console.log(describe(mutant)));
process.exit(0);

/** @param {import('./mutants.mjs').Mutant} mutant */
function describe({ line, from, to }) {
  /** @param {string} text */
  const brief = (text) =>
    (text.length > 100 ? `${text.slice(0, 60)} … ${text.slice(-30)}` : text).replace(/\s+/g, ' ');
  return `${file}:${line}  ${brief(from)}  →  ${brief(to)}`;
}

/** @param {string[]} args */
function parse(args) {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const options = args.slice(0, end);
  /** @param {string} name */
  const option = (name) => (options.includes(name) ? options.splice(options.indexOf(name), 2)[1] : undefined);
  const [from = 1, to = Infinity] = option('--lines')?.split('-').map(Number) ?? [];
  const jobCount = Number(option('--jobs') ?? 1);
  const all = () =>
    filesUnder(join(root, 'tests', 'unit'))
      .filter((file) => file.endsWith('.test.mjs'))
      .map((file) => relative(root, file));
  const [named] = options;
  if (
    named === undefined ||
    !existsSync(resolve(named)) ||
    !relative(root, resolve(named)).startsWith(join('pkg', 'src'))
  ) {
    console.error(
      'which file of pkg/src? node scripts/mutate.mjs pkg/src/FILE.ts [--lines 1-50] [--jobs 2] [-- TEST FILES]',
    );
    process.exit(2);
  }
  return {
    file: relative(root, resolve(named)),
    tests: end < args.length ? args.slice(end + 1) : all(),
    jobs: jobCount,
    lines: [from, to],
  };
}

/**
 * A copy of the project, with a node_modules in which `statepad` is the copy.
 *
 * @param {string} at
 */
function copyProject(at) {
  const project = join(at, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  COPIED.filter((name) => existsSync(join(root, name))).forEach((name) =>
    cpSync(join(root, name), join(project, name), { recursive: true }),
  );
  for (const name of ['src', 'wasm', 'package.json']) {
    cpSync(join(root, 'pkg', name), join(project, 'pkg', name), { recursive: true });
  }
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => name !== 'statepad')) {
    symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
  }
  symlinkSync(join(project, 'pkg'), join(project, 'node_modules', 'statepad'));
  for (const name of ['www', 'target']) {
    if (existsSync(join(root, name))) {
      symlinkSync(join(root, name), join(project, name));
    }
  }
  if (existsSync(join(root, '..', 'shared'))) {
    symlinkSync(join(root, '..', 'shared'), join(at, 'shared'));
  }
  return project;
}

/**
 * Translates and puts together the copy's sources: as the build does it, but without looking at the types.
 *
 * @param {string} project
 */
async function bundle(project) {
  const folder = join(project, 'pkg');
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  await bundleInto(folder);
}

/** @param {string} project @param {import('./mutants.mjs').Mutant} mutant */
async function survives(project, { text }) {
  writeFileSync(join(project, file), text);
  try {
    await bundle(project);
  } catch {
    // It does not even parse.
    return false;
  }
  for (const { test, time } of times) {
    if (!(await passes(project, test, 10_000 + 4 * time))) {
      return false;
    }
  }
  return true;
}

/**
 * Runs a test file until its first failure.
 *
 * @param {string} project @param {string} test @param {number} timeout
 */
async function passes(project, test, timeout) {
  const child = spawn(process.execPath, ['--test-reporter=tap', test], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const end = () => {
    try {
      // With what it has started itself.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(end, timeout);
  let hasFailed = false;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (data) => {
    rest = (rest + data).slice(-10_000);
    if (!hasFailed && /^\s*not ok /m.test(rest)) {
      hasFailed = true;
      end();
    }
  });
  const [code] = await new Promise((done) => child.on('close', (...all) => done(all)));
  clearTimeout(timer);
  end();
  return code === 0 && !hasFailed;
}
