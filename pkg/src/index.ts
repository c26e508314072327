/**
 * The session scratchpad for AI agents: scoped state, an append-only event log and instruction templates.
 *
 * @packageDocumentation
 */

export { InMemorySessionService, SessionService, type SessionServiceOptions } from './service.js';
export { InvocationContext, ReadonlyContext, type InstructionProvider, type InvocationOptions } from './invocation.js';
export { State, type ReadonlyState } from './state.js';
export { Deleted, DELETED } from './deleted.js';
export { createEvent, createEventActions, isFinalResponse } from './event.js';
export { outputDelta, outputDeltaAsync, type OutputOptions, type SchemaResult, type StandardSchema } from './output.js';
export { Template, type Placeholder } from './template.js';
export type { RenderAsyncOptions, RenderOptions } from './render.js';
export { injectSessionState, type AdkContext, type InjectContext } from './inject.js';
export { StatepadError, isStatepadError, type ErrorCode, type ErrorDetails, type Missing } from './errors.js';
export { StoreError, isStoreError, type StoreErrorCode, type StoreErrorDetails } from './store-error.js';
export { ready } from './ready.js';
export type { UpdateFunction } from './update.js';
export type { StoreOptions } from './store-options.js';
export type { Callbacks, LogRecord, Records, Refusal, Removal, VersionRecord } from './stores/lib/callbacks.js';
export type {
  Change,
  Committed,
  Delta,
  Durability,
  Guard,
  Hint,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  Migrate,
  Page,
  Place,
  Pos,
  Rev,
  Row,
  ScopeName,
  SessionStore,
  StoreContext,
  StoredEvent,
  Values,
} from './store.js';
export type {
  Abortable,
  AdkActions,
  AdkEvent,
  AppendEventRequest,
  Content,
  CreateSessionRequest,
  Event,
  EventActions,
  EventInit,
  GetSessionByName,
  GetSessionConfig,
  GetSessionRequest,
  HistoryOptions,
  HistoryStep,
  Json,
  ListSessionsRequest,
  ListSessionsResponse,
  Part,
  Session,
  SessionKey,
  SessionName,
  UpdateStateOptions,
  UpdateStateTarget,
} from './types.js';
