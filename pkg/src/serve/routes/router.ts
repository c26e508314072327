// The paths of routes: which route a path belongs to, and the ids in it.

import { readId } from '../../http/paths.js';
import type { Route } from './route.js';

/** One part of a path between two slashes. */
interface Part {
  readonly text: string;
  /** The verb after a colon, at the end of a path. */
  readonly verb: string | undefined;
}

/** One part of a template. */
interface Segment extends Part {
  /** The name of the id, for one that varies. */
  readonly name: string | undefined;
}

/** All routes with one path. */
interface PathRoutes {
  readonly segments: readonly Segment[];
  readonly byMethod: Map<string, Route>;
}

/** A route that a request has reached. */
export interface Reached {
  readonly route: Route;
  /** The ids in the path. Throws `INVALID_ARGUMENT` for a malformed one. */
  readonly ids: () => Record<string, string>;
}

/** Finds routes by the paths of requests. */
export class Router {
  readonly #paths: PathRoutes[] = [];

  constructor(routes: readonly Route[]) {
    const byPath = new Map<string, PathRoutes>();
    for (const route of routes) {
      const { path, method } = route.declaration;
      let entry = byPath.get(path);
      if (entry === undefined) {
        entry = { segments: segmentsOf(path), byMethod: new Map() };
        byPath.set(path, entry);
        this.#paths.push(entry);
      }
      entry.byMethod.set(method, route);
    }
  }

  /** The route of a path; `undefined` where there is none; the methods of the path where it has not this one. */
  find(method: string, path: string): Reached | readonly string[] | undefined {
    const parts = partsOf(path);
    const found = this.#paths.find(({ segments }) => matches(segments, parts));
    if (found === undefined) {
      return undefined;
    }
    // A HEAD is answered as a GET whose body is left out.
    const route = found.byMethod.get(method === 'HEAD' ? 'GET' : method);
    return route === undefined ? [...found.byMethod.keys()] : { route, ids: () => idsOf(found.segments, parts) };
  }
}

/** The parts of a path, or of a template. A colon in an id is escaped: a raw one begins a verb. */
function partsOf(path: string): readonly Part[] {
  return path
    .slice(1)
    .split('/')
    .map((part) => {
      const colon = part.indexOf(':');
      return colon < 0 ? { text: part, verb: undefined } : { text: part.slice(0, colon), verb: part.slice(colon + 1) };
    });
}

function segmentsOf(template: string): readonly Segment[] {
  return partsOf(template).map((part) => ({ ...part, name: /^\{(\w+)\}$/.exec(part.text)?.[1] }));
}

function matches(segments: readonly Segment[], parts: readonly Part[]): boolean {
  return (
    segments.length === parts.length &&
    segments.every(({ text, name, verb }, index) => {
      const part = parts[index] as Part;
      return verb === part.verb && (name !== undefined || text === part.text);
    })
  );
}

function idsOf(segments: readonly Segment[], parts: readonly Part[]): Record<string, string> {
  const ids: Record<string, string> = {};
  segments.forEach(({ name }, index) => {
    if (name !== undefined) {
      ids[name] = readId((parts[index] as Part).text, name);
    }
  });
  return ids;
}
