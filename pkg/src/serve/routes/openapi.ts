// The description of routes in OpenAPI 3.1, printed from their declarations.

import { ERROR_STATUS } from '../../http/answers.js';
import { COMPONENTS, ERROR } from './components.js';
import { ANSWER_HEADERS, REQUEST_HEADERS, type DeclaredAnswer, type Declaration } from './route.js';
import type { ErrorCode } from '../../model/errors.js';
import type { ObjectSchema, Schema } from './schema.js';

type JsonObject = Readonly<Record<string, unknown>>;

const GROUPS: readonly (readonly [string, string])[] = [
  ['names', 'Apps and users.'],
  ['sessions', 'Sessions: creating, reading, listing, deleting, rewinding and forking them.'],
  ['events', 'The events of a session.'],
  ['state', 'The state of sessions, users and apps.'],
  ['past', 'The writes of keys.'],
  ['leases', 'One runner at a time for a session.'],
  ['growth', 'The end of what has expired.'],
  ['watches', 'Changes as they happen.'],
  ['server', 'The server itself.'],
];

/** The errors of every route with a principal, of those with a body, and of those without a principal. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  ...(['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'FORBIDDEN', 'STORE_CORRUPT', 'CORE_FAILED', 'INTERNAL'] as const),
  ...(['STORE_UNAVAILABLE', 'STORE_UNSUITABLE', 'CLOSED', 'NOT_READY'] as const),
];
const BODY_ERRORS: readonly ErrorCode[] = ['TOO_LARGE'];
// A host or an origin may be forbidden there, too.
const OPEN_ERRORS: readonly ErrorCode[] = ['FORBIDDEN', 'INTERNAL', 'STORE_UNAVAILABLE', 'CLOSED'];
/** The other statuses of a wrong body. */
const BODY_STATUSES = { 408: 'The body did not arrive in time.', 415: 'The body is not JSON by its type.' } as const;

/** Describes routes that are mounted below a path. */
export function describeRoutes(declarations: readonly Declaration[], basePath: string): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const declaration of declarations) {
    (paths[declaration.path] ??= {})[declaration.method.toLowerCase()] = operationOf(declaration);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'statepad',
      version: '1',
      description:
        'Sessions of AI agents: scoped state and an append-only log of events. An id is a segment of a path by percent ' +
        'encoding; one that is empty, `.` or `..`, begins with `~`, or contains `/` or `\\`, is written as `~` and the ' +
        'base64url of its UTF-8, without padding.',
      license: { name: 'MIT OR Apache-2.0', identifier: 'MIT OR Apache-2.0' },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: GROUPS.map(([name, description]) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(COMPONENTS).map(([name, schema]) => [name, printedMembers(schema)])),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Unless the server identifies clients otherwise.' },
      },
    },
  };
}

function operationOf(declaration: Declaration): JsonObject {
  const { operation, group, summary, description, access, body } = declaration;
  const parameters = parametersOf(declaration);
  return {
    operationId: operation,
    tags: [group],
    summary,
    ...(description !== undefined && { description }),
    ...(access === 'anyone' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        content: { 'application/json': { schema: printed(body) } },
      },
    }),
    responses: responsesOf(declaration),
  };
}

function parametersOf({ path, query, headers = [], needs = [] }: Declaration): readonly JsonObject[] {
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inHeaders = headers.map((header) => {
    const { name, description } = REQUEST_HEADERS[header];
    return { name, in: 'header', required: needs.includes(header), description, schema: { type: 'string' } };
  });
  return [...ids, ...(query === undefined ? [] : queryOf(query)), ...inHeaders];
}

function queryOf({ properties = {}, required = [] }: ObjectSchema): readonly JsonObject[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: printed(schema),
  }));
}

function responsesOf({ answers, errors, access, body }: Declaration): JsonObject {
  const responses: Record<string, JsonObject> = {};
  for (const [status, answer] of Object.entries(answers)) {
    responses[status] = responseOf(answer);
  }
  const codes = new Set([
    ...(access === 'anyone' ? OPEN_ERRORS : COMMON_ERRORS),
    ...(body === undefined ? [] : BODY_ERRORS),
    ...errors,
  ]);
  for (const code of codes) {
    const status = String(ERROR_STATUS[code]);
    const earlier = responses[status]?.['description'];
    responses[status] = refusal(earlier === undefined ? code : `${earlier as string}, ${code}`);
  }
  for (const [status, description] of body === undefined ? [] : Object.entries(BODY_STATUSES)) {
    responses[status] = refusal(description);
  }
  return responses;
}

function responseOf({ description, schema, isStream, headers = [] }: DeclaredAnswer): JsonObject {
  const content = {
    ...(schema !== undefined && { 'application/json': { schema: printed(schema) } }),
    ...(isStream && { 'text/event-stream': { schema: { type: 'string' } } }),
  };
  const named = headers.map((header) => {
    const { name, description: what } = ANSWER_HEADERS[header];
    return [name, { description: what, schema: { type: 'string' } }] as const;
  });
  return {
    description,
    ...(headers.length > 0 && { headers: Object.fromEntries(named) }),
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function refusal(description: string): JsonObject {
  return responseOf({ description, schema: ERROR });
}

const names = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** A schema as JSON: a reference, where it is a component. */
function printed(schema: Schema): JsonObject {
  const name = names.get(schema);
  return name === undefined ? printedMembers(schema) : { $ref: `#/components/schemas/${name}` };
}

function printedMembers(schema: Schema): JsonObject {
  const { properties, additionalProperties, items } = schema as ObjectSchema & { readonly items?: Schema };
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, printed(member)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: printed(additionalProperties) }),
    ...(items !== undefined && { items: printed(items) }),
  };
}
