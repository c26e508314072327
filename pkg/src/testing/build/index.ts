// Short words for the data of the cases: `step.commit(change.append('e1'), answer.appended(1))`.

export * as answer from './answer.js';
export * as change from './change.js';
export * as step from './step.js';
export * from './keys.js';
export * from './log.js';
export * from './operators.js';
export * from './store-case.js';
export * from './stored.js';
