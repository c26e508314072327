// Answers of a server, checked against its own description in OpenAPI: every status, body and header of the tests is
// one that the description promises.

import assert from 'node:assert/strict';
import Ajv2020 from 'ajv/dist/2020.js';

/**
 * A function that checks an answer to a request.
 *
 * @param {any} description
 */
export function answersOf(description) {
  const ajv = new Ajv2020.default({ strict: true, strictRequired: false, allErrors: true });
  ajv.addVocabulary(Object.keys(description));
  ajv.addSchema(closed({ $id: 'openapi', ...description }, true), 'openapi');
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation, matches: patternOf(path) })),
  );
  return async (/** @type {Request} */ request, /** @type {Response} */ response) => {
    const { pathname } = new URL(request.url);
    const method = request.method.toLowerCase();
    const found = operations.find((each) => each.method === method && each.matches.test(pathname));
    assert.ok(found, `${request.method} ${pathname} is described`);
    const { operation, path } = found;
    const what = `${operation.operationId}, ${response.status}`;
    const described = operation.responses[response.status];
    assert.ok(described, `${what}: the description has this status`);
    const [type = ''] = response.headers.get('content-type')?.split(';') ?? [];
    if (described.content === undefined) {
      assert.equal(await response.clone().text(), '', `${what}: the description has no body`);
    } else {
      assert.ok(type in described.content, `${what}: the description has ${type}`);
      if (type === 'application/json') {
        const pointer = ['paths', path, method, 'responses', String(response.status), 'content', type, 'schema'];
        const valid = ajv.getSchema(`openapi#/${pointer.map(escaped).join('/')}`);
        const body = await response.clone().json();
        assert.ok(valid?.(body), `${what}: ${ajv.errorsText(valid?.errors)} in ${JSON.stringify(body).slice(0, 500)}`);
      }
    }
    for (const name of ['etag', 'idempotency-replayed', 'statepad-values']) {
      const promised = Object.keys(described.headers ?? {}).map((header) => header.toLowerCase());
      assert.ok(!response.headers.has(name) || promised.includes(name), `${what}: the description has ${name}`);
    }
    return operation.operationId;
  };
}

/** The paths that a template describes: an id has no slash and no colon. */
function patternOf(/** @type {string} */ template) {
  const parts = template.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^/:]*')}$`);
}

const escaped = (/** @type {string} */ part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

/**
 * The description with closed objects: a member of an answer that it does not name is a fault. Values of any kind are
 * left as they are.
 *
 * @param {any} value @returns {any}
 */
function closed(value, isRoot = false) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => closed(item));
  const copied = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  return !isRoot && value.type === 'object' && value.properties !== undefined
    ? { additionalProperties: false, ...copied }
    : copied;
}
