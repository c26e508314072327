// Runs one suite of tests: what it prints is read for its counts, and passed on.

import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { env, root } from './tools.mjs';

/**
 * @typedef {'cargo' | 'node' | 'pytest'} Runner
 * @typedef {{ name: string, command: string[], runner?: Runner, extraEnv?: Record<string, string> }} Suite
 */

/**
 * The summary of each kind of runner: its lines, and the counts in them, of which those of one kind are added up.
 * `skips` are further lines, each of a test that counts as passed there and was skipped; `told` those that are told
 * again at the end.
 *
 * @typedef {{ line: RegExp, counts: Record<'passed' | 'failed' | 'skipped', RegExp>, skips?: RegExp, told?: RegExp }}
 *   Summary
 * @type {Record<Runner, Summary>}
 */
const summaries = {
  cargo: {
    line: /^test result: /,
    counts: { passed: /(\d+) passed/g, failed: /(\d+) failed/g, skipped: /(\d+) ignored/g },
    // A test of Rust cannot skip itself while it runs: it says that it does, and is counted as passed by cargo.
    skips: /^skipped: /,
  },
  node: {
    line: /^ℹ (tests|pass|fail|cancelled|skipped|todo) \d+$/,
    counts: {
      passed: /^ℹ pass (\d+)/gm,
      failed: /^ℹ (?:fail|cancelled) (\d+)/gm,
      skipped: /^ℹ (?:skipped|todo) (\d+)/gm,
    },
  },
  pytest: {
    line: /^(=+ )?(\d+ [a-z]+(, )?)+ in [\d.]+s/,
    // A test that is expected to fail says nothing of what works. One that passes against that expectation is wrong.
    counts: {
      passed: /(\d+) passed/g,
      failed: /(\d+) (?:failed|errors?|xpassed)\b/g,
      skipped: /(\d+) (?:skipped|xfailed|deselected)\b/g,
    },
    // The reasons, by its option -r.
    told: /^(SKIPPED|XFAIL|XPASS) /,
  },
};

/** The number of lines that are printed again of a suite that failed. */
const FAILURE_LINES = 80;

/**
 * The output of a failed suite that explains the failure: from where Node's runner lists the failures, or its last
 * lines.
 *
 * @param {string} output
 */
function failureOf(output) {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n');
  const list = lines.lastIndexOf('✖ failing tests:');
  return list === -1 ? lines.slice(-FAILURE_LINES) : lines.slice(list, list + FAILURE_LINES);
}

/**
 * Runs `command` and answers its outcome; when it failed, with the lines in which it says why, as `failure`. A suite
 * with a `runner` fails when it ran no test; one without is a single check, which passes or fails by its exit code.
 * Its output is shown at once; or, with `show: 'whole'`, when it is done, so that it stays together beside others; or,
 * with 'nothing', never.
 *
 * @param {Suite} suite
 */
export async function runSuite({ name, command, runner, extraEnv }, { show = 'at once' } = {}) {
  if (show === 'at once') console.log(`\n=== ${name}\n`);
  const started = performance.now();
  const { code, output } = await follow(command, extraEnv, show === 'at once');
  if (show === 'whole') console.log(`\n=== ${name}\n\n${output.trimEnd()}`);
  const seconds = (performance.now() - started) / 1000;
  if (!runner) {
    const ok = code === 0;
    return {
      name,
      ok,
      passed: Number(ok),
      failed: Number(!ok),
      skipped: 0,
      seconds,
      output,
      lines: [],
      failure: ok ? [] : failureOf(output),
    };
  }

  const { line, counts, skips, told } = summaries[runner];
  const printed = stripVTControlCharacters(output).split('\n');
  const lines = printed.filter((text) => line.test(text));
  const counted = lines.join('\n');
  /** @param {RegExp} pattern */
  const total = (pattern) => [...counted.matchAll(pattern)].reduce((sum, [, count]) => sum + Number(count), 0);
  const skipLines = skips ? printed.filter((text) => skips.test(text)) : [];
  const [failed, passed, skipped] = [
    total(counts.failed),
    total(counts.passed) - skipLines.length,
    total(counts.skipped) + skipLines.length,
  ];
  lines.push(...skipLines, ...(told ? printed.filter((text) => told.test(text)) : []));
  const ok = code === 0 && failed === 0 && passed > 0;
  // A runner that broke down before it could count is a failure, too.
  return {
    name,
    ok,
    passed,
    failed: ok ? 0 : Math.max(failed, 1),
    skipped,
    seconds,
    output,
    lines,
    failure: ok ? [] : failureOf(output),
  };
}

/**
 * Runs a program to its end, and answers its exit code and all that it printed.
 *
 * @param {string[]} command @param {Record<string, string> | undefined} extraEnv @param {boolean} shown
 */
function follow([program, ...args], extraEnv, shown) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env: { ...env, ...extraEnv }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const { from, to } of [
      { from: child.stdout, to: process.stdout },
      { from: child.stderr, to: process.stderr },
    ]) {
      from.setEncoding('utf8');
      from.on('data', (text) => {
        output += text;
        if (shown) to.write(text);
      });
    }
    child.on('error', (error) => {
      const text = `${program}: ${error.message}\n`;
      if (shown) process.stderr.write(text);
      resolve({ code: 1, output: output + text });
    });
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}
