/**
 * Imports the sessions of an ADK's database, or reads them where they are: those of adk-python, adk-js, adk-go and
 * adk-java.
 *
 * @example
 * ```js
 * import Database from 'better-sqlite3';
 * import { importAdk } from 'statepad/import-adk';
 *
 * const { kind, sessions, events, problems } = await importAdk(new Database('sessions.db'), service);
 * ```
 *
 * @packageDocumentation
 */

export {
  identifyAdk,
  importAdk,
  type AdkImport,
  type AdkImportOptions,
  type AdkProblem,
} from './adk-import/import.js';
export { adkReadStore, type AdkReadOptions } from './adk-import/in-place/store.js';
export type { ImportProblem } from './transfer/problems.js';
export type { ImportProgress, ImportProgress as AdkImportProgress } from './transfer/transfer.js';
export type { AdkDatabaseHandle, MysqlHandle, PostgresHandle } from './adk-import/source/source.js';
export type { AdkDatabase, AdkRow, Dialect } from './stores/adk-database/database.js';
export type { AdkIdentity, AdkKind } from './stores/adk-database/detect.js';
export type { SqliteDatabase, SqliteStatement } from './stores/sqlite-core/client.js';
export type { FileUrl } from './stores/sqlite-core/file.js';
export type { SessionStore } from './store/contract.js';
