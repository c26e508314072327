/**
 * The session scratchpad for AI agents: scoped state, an append-only event log and instruction templates.
 *
 * @packageDocumentation
 */

export { InMemorySessionService, SessionService, type SessionServiceOptions } from './service/session-service.js';
export {
  InvocationContext,
  ReadonlyContext,
  type InstructionProvider,
  type InvocationOptions,
} from './context/invocation.js';
export { State, type DeepReadonly, type ReadonlyState } from './context/state.js';
export { applyChange } from './model/apply-change.js';
export { Deleted, DELETED } from './model/deletion.js';
export { append, compareAndSet, increment, setOnce } from './input/operators.js';
export type { OperatorWrite } from './model/operator-write.js';
export { createEvent, createEventActions, isFinalResponse } from './input/event.js';
export {
  outputDelta,
  outputDeltaAsync,
  type OutputOptions,
  type SchemaResult,
  type StandardSchema,
} from './context/output.js';
export { Template, type Placeholder } from './template/template.js';
export type { RenderAsyncOptions, RenderOptions } from './template/render.js';
export { injectSessionState, type AdkContext, type InjectContext } from './template/inject.js';
export { StatepadError, isStatepadError, type ErrorCode, type ErrorDetails, type Missing } from './model/errors.js';
export { StoreError, isStoreError, type StoreErrorCode, type StoreErrorDetails } from './store/store-error.js';
export { ready } from './engine/ready.js';
export { plainSession } from './input/plain-session.js';
export type { StoreOptions } from './service/options.js';
export type { LimitName, LimitOptions } from './model/limits.js';
export type { SweepAnswer, SweepRequest } from './model/sweep.js';
export type {
  Callbacks,
  LogRecord,
  Records,
  Refusal,
  Removal,
  VersionRecord,
} from './stores/journal/callback-store.js';
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
  ListAppsRequest,
  ListAppsResponse,
  ListSessionsResponse,
  ListUsersRequest,
  ListUsersResponse,
  Part,
  Session,
  SessionEnd,
  SessionKey,
  SessionName,
  UpdateFunction,
  UpdateStateOptions,
  UpdateStateTarget,
} from './model/types.js';
export type {
  DetailedHistory,
  DetailedState,
  SessionHistoryOptions,
  SharedHistory,
  SharedKey,
  SharedStep,
  StateAtOptions,
  TrimOptions,
} from './model/past.js';
export type { HeldLease, Lease, LeaseOptions, WithLeaseOptions } from './model/lease.js';
export type { ForkOptions, RedoOptions, RewindOptions, Rewound } from './model/rewind.js';
export type {
  EventChange,
  SessionChange,
  SessionSource,
  SharedChange,
  WatchedChange,
  WatchKey,
  WatchOptions,
  WatchPace,
  WatchTarget,
  WholePlace,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from './model/watch.js';
