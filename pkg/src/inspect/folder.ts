// The place of the inspector's files in the package. This module stays a file of its own, in a folder beside theirs:
// the address of a shared file says nothing about theirs.

/** The folder of the files. */
export function inspectorFolder(): URL {
  return new URL('../page/', import.meta.url);
}
