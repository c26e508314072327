/**
 * Sessions as JSON lines: to inspect, to archive, to send to somebody, and to open again.
 *
 * @example
 * ```js
 * import { exportLines, openLines } from 'statepad/jsonl';
 *
 * for await (const line of exportLines(service, { appName: 'tutor' })) {
 *   console.log(line);
 * }
 *
 * const opened = await openLines(file.stream().pipeThrough(new TextDecoderStream()));
 * const session = await opened.service.getSession(opened.sessions[0]);
 * ```
 *
 * @packageDocumentation
 */

export { exportLines, type ExportOptions } from './jsonl/export.js';
export { openLines, type OpenedLines } from './jsonl/open.js';
export { importLines, type LinesImport, type LinesImportOptions, type LinesImportProgress } from './jsonl/import.js';
export type { ImportProblem } from './transfer/problems.js';
