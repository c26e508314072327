// The handler that a server is.

/** A handler of the Fetch API, for Deno, Bun, Durable Objects, Hono and Next; and for Node by `nodeListener`. */
export interface ServeHandler {
  (request: Request): Promise<Response>;
  /**
   * Ends all streams, refuses later requests with 503, and resolves when the requests that have begun are answered.
   * The service stays open.
   */
  close(): Promise<void>;
}
