/**
 * statepad under ADK's agents: `new Runner({ appName, agent, sessionService: new StatepadSessionService() })`.
 *
 * @packageDocumentation
 */

export { DELETED } from './model/deletion.js';
export { instruction, type Instruction } from './adk/instruction.js';
export { StatepadSessionService } from './adk/session-service.js';
