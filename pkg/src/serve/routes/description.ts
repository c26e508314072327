// The route of the description of all routes.

import { PATHS } from '../../http/paths.js';
import { describeRoutes } from './openapi.js';
import { route, type Route } from './route.js';

/** The route that describes all routes, itself included. */
export function descriptionRoute(routes: () => readonly Route[]): Route {
  const texts = new Map<string, object>();
  return route(
    {
      operation: 'describe',
      method: 'GET',
      path: PATHS.description,
      group: 'server',
      summary: 'Describes the routes, in OpenAPI 3.1.',
      access: 'anyone',
      answers: { 200: { description: 'The description.', schema: { type: 'object' } } },
      errors: [],
    },
    async ({ context: { basePath } }) => {
      let description = texts.get(basePath);
      if (description === undefined) {
        const declarations = routes().map(({ declaration }) => declaration);
        description = describeRoutes(declarations, basePath);
        texts.set(basePath, description);
      }
      return { body: description };
    },
  );
}
