// How the published scripts are printed.

/**
 * The length from which a line is broken, in characters. Node prints the line of an uncaught error before its message:
 * a script in one line would bury the message under all of its code.
 */
export const lineLimit = 200;
