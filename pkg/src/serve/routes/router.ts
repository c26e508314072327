// The paths of routes: which route a path belongs to, and the ids in it.

import { readId } from '../../http/paths.js';
import type { Route } from './route.js';

/** One part of a path between two slashes. */
interface Segment {
  /** The text, for one that is fixed. */
  readonly text: string;
  /** The name of the id, for one that varies. */
  readonly name: string | undefined;
  /** The verb after a colon, at the end of a path. */
  readonly verb: string | undefined;
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
    const parts = segmentsOf(path);
    const found = this.#paths.find(({ segments }) => matches(segments, parts));
    if (found === undefined) {
      return undefined;
    }
    // A HEAD is answered as a GET whose body is left out.
    const route = found.byMethod.get(method === 'HEAD' ? 'GET' : method);
    return route === undefined ? [...found.byMethod.keys()] : { route, ids: () => idsOf(found.segments, parts) };
  }
}

/** The segments of a path, or of a template. A colon in an id is escaped: a raw one begins a verb. */
function segmentsOf(path: string): readonly Segment[] {
  return path
    .slice(1)
    .split('/')
    .map((part) => {
      const [text = '', ...verbs] = part.split(':');
      const [, name] = /^\{(\w+)\}$/.exec(text) ?? [];
      return { text, name, verb: verbs.length === 0 ? undefined : verbs.join(':') };
    });
}

function matches(segments: readonly Segment[], parts: readonly Segment[]): boolean {
  return (
    segments.length === parts.length &&
    segments.every(({ text, name, verb }, index) => {
      const part = parts[index] as Segment;
      return verb === part.verb && (name !== undefined || text === part.text);
    })
  );
}

function idsOf(segments: readonly Segment[], parts: readonly Segment[]): Record<string, string> {
  const ids: Record<string, string> = {};
  segments.forEach(({ name }, index) => {
    if (name !== undefined) {
      ids[name] = readId((parts[index] as Segment).text, name);
    }
  });
  return ids;
}
