// Runs the steps of a quick check side by side: a line for each with its time, and what those that failed say of it.

import { availableParallelism } from 'node:os';
import { inLanes } from './lanes.mjs';
import { runSuite } from './suite.mjs';

/**
 * @typedef {import('./lanes.mjs').Task & import('./suite.mjs').Suite & { refusal?: string | undefined, omission?:
 *   string }} Step
 * A step with a `refusal` fails without being run, and says this; one with an `omission` is left out without a
 * failure, and says this.
 */

/** @param {Step[]} steps */
export async function runSteps(steps) {
  const width = Math.max(...steps.map(({ name }) => name.length));
  /** @param {string} result @param {string} name @param {string} rest */
  const print = (result, name, rest) => console.log(`${result.padEnd(6)}  ${name.padEnd(width)}  ${rest}`);

  const results = await inLanes(steps, Math.min(2, availableParallelism()), async (step) => {
    const { name, omission, refusal } = step;
    if (omission !== undefined) {
      print('left', name, omission);
      return { name, ok: true };
    }
    if (refusal !== undefined) {
      print('FAILED', name, refusal);
      return { name, ok: false };
    }
    const { ok, seconds, passed, failed, output, failure } = await runSuite(step, { show: 'nothing' });
    const counts = step.runner === undefined ? '' : `  ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`;
    print(ok ? 'ok' : 'FAILED', name, `${seconds.toFixed(1).padStart(6)} s${counts}`);
    // Of tests, what their runner says of the failures: the list of those that passed is long.
    return { name, ok, report: step.runner === undefined ? output.trimEnd() : failure.join('\n') };
  });

  const broken = results.filter(({ ok }) => !ok);
  for (const { name, report } of broken) if (report !== undefined) console.log(`\n=== ${name}\n\n${report}`);
  const took = `${(performance.now() / 1000).toFixed(1)} s`;
  console.log(
    broken.length === 0 ? `\nall is well, ${took}` : `\nfailed: ${broken.map(({ name }) => name).join(', ')}; ${took}`,
  );
  process.exitCode = broken.length === 0 ? 0 : 1;
}
