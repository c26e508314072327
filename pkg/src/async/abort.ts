// The type of signals, also where the host's types are not known.

/** The host's `AbortSignal`. Without its types (`lib: ["dom"]`, `@types/node`) nothing is known about it. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : object;
