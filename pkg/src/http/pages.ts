// The sizes of pages.

/** A page's largest number of items. */
export const MAX_PAGE = 1_000;
/** The number of items of a page whose size the client leaves open. */
export const DEFAULT_PAGE = 100;
