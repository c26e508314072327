/** The benchmark library, asked for medians only. */

import { do_not_optimize, measure } from 'mitata';

/** @typedef {{ value: number, mean: number, samples: number }} Figure */

/**
 * The median time of one call, in nanoseconds; a promise is awaited. The answer of the call goes into a sum that is
 * kept: no part of it can be left out.
 *
 * @param {() => number | Promise<number>} call
 * @param {{ quick: boolean }} options
 * @returns {Promise<Figure>}
 */
export async function time(call, { quick }) {
  let sum = 0;
  const isAsync = call() instanceof Promise;
  await warmUp(call, quick ? 50 : 400);
  const consumed = isAsync
    ? async () => void (sum += await call())
    : () => void (sum += /** @type {number} */ (call()));
  const stats = await measure(consumed, { min_cpu_time: quick ? 100e6 : 600e6, batch_samples: 1024 });
  do_not_optimize(sum);
  return figure(stats);
}

/** Both compilers, that of JavaScript and that of WebAssembly, take their time until they make fast code. */
async function warmUp(call, milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    for (let count = 0; count < 100 && performance.now() < end; count += 1) await call();
  }
}

/**
 * The median over samples that measure themselves: each call prepares what it needs, times only its core, and answers
 * with nanoseconds for one operation.
 *
 * @param {() => Promise<number>} sample
 * @param {number} samples
 * @returns {Promise<Figure>}
 */
export async function timeSamples(sample, samples) {
  const stats = await measure(
    function* () {
      yield { manual: sample, budget: 'manual' };
    },
    { min_samples: samples, min_cpu_time: 0, warmup_samples: 1 },
  );
  return figure(stats);
}

const figure = ({ p50, avg, samples }) => ({ value: p50, mean: avg, samples: samples.length });
