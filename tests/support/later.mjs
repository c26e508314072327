// Moves the clock of a program on: `STATEPAD_LATER_DAYS=40 node --import ./tests/support/later.mjs …`. It shows what
// holds only near the day on which a test was written, or its data were made. Clocks of servers and browsers stay.

const moved = Number(process.env.STATEPAD_LATER_DAYS) * 24 * 60 * 60 * 1000;
if (!Number.isFinite(moved)) throw new Error('STATEPAD_LATER_DAYS must be a number of days');
const now = Date.now.bind(Date);
const later = () => now() + moved;

const moving = new Proxy(Date, {
  apply: (Real) => String(new Real(later())),
  construct: (Real, given, target) => Reflect.construct(Real, given.length === 0 ? [later()] : given, target),
});
Object.assign(globalThis, { Date: moving });
Date.now = later;
Date.prototype.constructor = Date;
