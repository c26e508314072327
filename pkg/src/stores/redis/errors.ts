// The meaning of an error of Redis, or of a client, for a change.

import { StoreError } from '../../store/store-error.js';

/** Redis refused to run the script, or its first write. */
const REFUSED =
  /^(?:BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOAUTH|NOPERM|NOREPLICAS|OOM|READONLY|TRYAGAIN|WRONGPASS) /;
/**
 * The user may not run a command of the script. A script asks for what it writes by before it writes: it was one that
 * came before. There is no code of its own for it.
 */
const DENIED = /^(?:ERR )?(?:The user executing the script can't run this command|ACL failure in script: )/;
/** An operator stopped the script, which is only possible before its first write. */
const KILLED = /Script killed by user/;
/** Upstash does not take any request for a while. */
const LIMITED = /^ERR max (?:(?:daily )?requests? limit|concurrent connections) exceeded/;
/** The client did not send anything. */
const UNSENT =
  /^(?:The client is (?:closed|offline)$|The queue is full$|Stream isn't writeable and enableOfflineQueue)/;
/** A cluster sent the client from one machine to the next. */
const LOST = /^Too many Cluster redirections/;
const TOO_BIG =
  /^ERR (?:string exceeds maximum allowed size|Protocol error: invalid \w+ length|max \w+ size exceeded)/;
/** The prefix of Redis before 7 for an error of a command that a script has run: the place of the command. */
const IN_SCRIPT = /^(?:@user_script: ?\d+: )+-?/;
/**
 * The client could not put the command together: a text is too long for the runtime, or a call of a function may not
 * have that many arguments. Nothing has left the process.
 */
const TOO_LONG = /^Invalid string length$/;
const TOO_MANY = /^Maximum call stack size exceeded$/;
const SIZES = /Limit: (\d+) bytes, Actual: (\d+) bytes/;

/** True if Redis does not know a script by its hash. */
export function isUnknownScript(error: unknown): boolean {
  return messageOf(error).startsWith('NOSCRIPT');
}

/**
 * The meaning of an error, when it is certain; the error itself otherwise. `onForeign` is the meaning of a key of
 * another type.
 */
export function meaningOf(error: unknown, onForeign: 'rejected' | 'corrupt'): unknown {
  return textMeaning(messageOf(error), onForeign, error) ?? error;
}

/** `rejected`: if the error says that texts are too long to be sent, or that there are too many of them. */
export function tooMuch(cause: unknown, texts: readonly string[]): StoreError | undefined {
  const message = cause instanceof RangeError ? cause.message : '';
  if (TOO_LONG.test(message)) {
    // A character is a byte or more.
    const size = texts.reduce((sum, { length }) => sum + length, 0);
    return new StoreError('rejected', `the client cannot send ${size} bytes or more at once`, { size, cause });
  }
  if (TOO_MANY.test(message)) {
    const size = texts.length;
    const advice = 'change fewer names at a time';
    return new StoreError('rejected', `the client cannot send ${size} arguments at once: ${advice}`, { size, cause });
  }
  return undefined;
}

/** The fault of a key that has a type that it should not have. */
export function ofAnotherType(code: 'rejected' | 'corrupt', cause?: unknown): StoreError {
  return new StoreError(code, 'a key under the prefix is of another type: another program has written it', { cause });
}

/** The meaning of an error's text, when it is certain. */
export function textMeaning(
  message: string,
  onForeign: 'rejected' | 'corrupt',
  cause: unknown,
): StoreError | undefined {
  const text = message.replace(IN_SCRIPT, '');
  if (text.includes('WRONGTYPE')) {
    return ofAnotherType(onForeign, cause);
  }
  if (TOO_BIG.test(text)) {
    const [, limit, size] = SIZES.exec(text) ?? [];
    return new StoreError('rejected', `redis refuses the size: ${text}`, {
      ...(limit === undefined || size === undefined ? {} : { limit: Number(limit), size: Number(size) }),
      cause,
    });
  }
  if ([REFUSED, DENIED, KILLED, LIMITED, UNSENT, LOST].some((pattern) => pattern.test(text))) {
    return new StoreError('unavailable', `redis has not done it: ${text}`, { cause });
  }
  return undefined;
}

/** The message of an error as the server wrote it, without what clients and older servers put around it. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return '';
  }
  const text = error.message.replace(/^Command failed: /, '').replace(/, command was: \[.*$/s, '');
  return text.replace(/^ERR Error running script \(call to \w+\): /, '');
}
