// The names of apps and sessions in the API: resource names, and the ids that it takes.

import { sessionTitle } from '../../store/refusals.js';
import { StoreError } from '../../store/store-error.js';
import { Recent } from '../shared/recent.js';
import type { SessionKey } from '../../model/types.js';

/** An Agent Engine: the keeper of the sessions of one app. */
export interface Engine {
  /** The resource name: `projects/…/locations/…/reasoningEngines/…`, in express mode `reasoningEngines/…` alone. */
  readonly name: string;
  /** The location, which is also a part of the host's name. Express mode has one host for all: that of `global`. */
  readonly location: string;
}

/** The place of engines that are named by their ids. In express mode it follows from the API key. */
export type Place = { readonly project: string; readonly location: string } | 'express';

/** Tells which engine an app is: an id, which is a number, or a full resource name. */
export type EngineOf = (app: string) => string;

/** Of how many engines it is remembered which app has them. */
const MAX_ENGINES = 10_000;
const ENGINE_NAME = /^projects\/[\w.:-]+\/locations\/([a-z0-9-]+)\/reasoningEngines\/(\d+)$/;
const ENGINE_ID = /^\d+$/;
const SESSION_ID = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** The engine of a text that is an id or a resource name; `undefined` for any other text. */
export function engineIn(text: string, place: Place): Engine | undefined {
  const [, namedLocation, id = ENGINE_ID.exec(text)?.[0]] = ENGINE_NAME.exec(text) ?? [];
  if (place === 'express') {
    return id === undefined ? undefined : { name: `reasoningEngines/${id}`, location: 'global' };
  }
  if (namedLocation !== undefined) {
    return { name: text, location: namedLocation };
  }
  const { project, location } = place;
  return id === undefined
    ? undefined
    : { name: `projects/${project}/locations/${location}/reasoningEngines/${id}`, location };
}

/**
 * Makes the function that finds the engine of an app. It throws `rejected` for an app that is none, and for an engine
 * that another app has: the API knows no apps, so that their sessions would meet.
 */
export function engineFinder(engineOf: EngineOf, place: Place): (app: string) => Engine {
  const apps = new Recent<string>(MAX_ENGINES, () => 1);
  return (app) => {
    const text = engineOf(app);
    const engine = typeof text === 'string' ? engineIn(text, place) : undefined;
    if (engine === undefined) {
      const what = 'the id of an engine, or projects/…/locations/…/reasoningEngines/…';
      throw new StoreError(
        'rejected',
        `app "${app}" is no Agent Engine: its name must be ${what}; or pass \`engine\``,
      );
    }
    const other = apps.get(engine.name) ?? app;
    if (other !== app) {
      const why = 'pass `engine` as a function that returns one for each app';
      throw new StoreError(
        'rejected',
        `app "${app}" has the engine that holds the sessions of app "${other}": ${why}`,
      );
    }
    apps.set(engine.name, app);
    return engine;
  };
}

/** True for an id that the API takes. */
export function isSessionId(sessionId: string): boolean {
  return SESSION_ID.test(sessionId);
}

/** The resource name of a session. Throws `rejected` for an id that the API does not take. */
export function sessionName({ name }: Engine, { sessionId }: Pick<SessionKey, 'sessionId'>): string {
  if (!isSessionId(sessionId)) {
    const rule = 'up to 63 lower-case letters, digits and hyphens, with no hyphen at either end';
    throw new StoreError(
      'rejected',
      `${sessionTitle({ sessionId })} cannot be stored: the API accepts ids of ${rule}`,
    );
  }
  return `${name}/sessions/${sessionId}`;
}

/** The last part of a resource name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** A value in a filter, in quotes. */
export function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, '\\$&')}"`;
}
