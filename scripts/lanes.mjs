// Runs tasks side by side, as far as they do not disturb each other.

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string[]} [after] the names of tasks that have to be done before; those that are not among the tasks are
 * not waited for
 * @property {string[]} [shares] what no two tasks may use at the same time: a folder with a lock, the browser
 * @property {boolean} [alone] whether nothing may run beside it
 * @property {number} [seconds] about how long it takes
 */

/**
 * The waiting task to start now, or undefined: one that may run beside those that run. The task that holds up most
 * goes first: a task counts as long as all waiting tasks together that share something with it. Tasks that run alone
 * come last.
 *
 * @template {Task} T
 * @param {T[]} waiting @param {T[]} running
 * @returns {T | undefined}
 */
export function nextTask(waiting, running) {
  if (running.some(({ alone }) => alone)) return undefined;
  const undone = new Set([...waiting, ...running].map(({ name }) => name));
  const ready = waiting.filter(({ after = [] }) => !after.some((name) => undone.has(name)));
  const beside = ready.filter((task) => !task.alone && !running.some((other) => disturb(task, other)));
  if (beside.length === 0) {
    return running.length === 0 && !waiting.some(({ alone }) => !alone) ? ready.find(({ alone }) => alone) : undefined;
  }
  /** @param {Task} task */
  const holdsUp = (task) =>
    waiting
      .filter((other) => other === task || disturb(task, other))
      .reduce((sum, { seconds = 1 }) => sum + seconds, 0);
  return beside.reduce((best, task) => (holdsUp(task) > holdsUp(best) ? task : best));
}

/** @param {Task} one @param {Task} other */
function disturb({ shares = [] }, { shares: others = [] }) {
  return shares.some((name) => others.includes(name));
}

/**
 * Runs every task once, at most so many at a time, and answers their results in the order of the tasks.
 *
 * @template {Task} T
 * @template R
 * @param {T[]} tasks @param {number} lanes @param {(task: T) => Promise<R>} run
 * @returns {Promise<R[]>}
 */
export async function inLanes(tasks, lanes, run) {
  const waiting = [...tasks];
  const results = new Map();
  /** @type {Map<T, Promise<void>>} */
  const running = new Map();
  while (waiting.length > 0 || running.size > 0) {
    for (let task; running.size < lanes && (task = nextTask(waiting, [...running.keys()]));) {
      const started = task;
      waiting.splice(waiting.indexOf(started), 1);
      const done = run(started).then((result) => {
        results.set(started, result);
        running.delete(started);
      });
      running.set(started, done);
    }
    if (running.size === 0)
      throw new Error(`tasks that wait for each other: ${waiting.map(({ name }) => name).join(', ')}`);
    await Promise.race(running.values());
  }
  return tasks.map((task) => results.get(task));
}

/**
 * About how many seconds `inLanes` takes, if every task takes as long as it says.
 *
 * @param {Task[]} tasks @param {number} lanes
 */
export function secondsInLanes(tasks, lanes) {
  const waiting = [...tasks];
  /** @type {{ task: Task, end: number }[]} */
  let running = [];
  let now = 0;
  while (waiting.length > 0 || running.length > 0) {
    for (
      let task;
      running.length < lanes &&
      (task = nextTask(
        waiting,
        running.map((one) => one.task),
      ));
    ) {
      waiting.splice(waiting.indexOf(task), 1);
      running.push({ task, end: now + (task.seconds ?? 1) });
    }
    if (running.length === 0)
      throw new Error(`tasks that wait for each other: ${waiting.map(({ name }) => name).join(', ')}`);
    now = Math.min(...running.map(({ end }) => end));
    running = running.filter(({ end }) => end > now);
  }
  return now;
}
