/**
 * statepad under ADK's agents: `new Runner({ appName, agent, sessionService: new StatepadSessionService() })`.
 *
 * @packageDocumentation
 */

export { DELETED } from './model/deletion.js';
export { append, compareAndSet, increment, setOnce } from './input/operators.js';
export { instruction, type Instruction } from './adk/instruction.js';
export type { StatepadPlugin } from './adk/plugin.js';
export { LeasedRunner, type LeasedRunnerConfig } from './adk/leased-runner.js';
export {
  StatepadSessionService,
  type RewoundSession,
  type StatepadSessionServiceOptions,
} from './adk/session-service.js';
