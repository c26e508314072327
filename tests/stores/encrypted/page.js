// The program of a page in the encrypted store's tests: encrypted names in IndexedDB.

/* global indexedDB */

import { encryptedStore } from 'statepad/stores/encrypted';
import { indexedDBStore } from 'statepad/stores/indexeddb';
import { runStoreCase, storeCases } from 'statepad/testing';

const bytes = (number) => new Uint8Array(32).fill(number);
let databases = 0;

function open() {
  const name = `case ${++databases}`;
  const options = { keys: [{ id: 'k', key: bytes(1) }], names: 'encrypted', nameKey: bytes(2) };
  const make = () => encryptedStore(indexedDBStore(name, { durability: 'relaxed' }), options);
  return { store: make(), reopen: make, another: make, dispose: () => void indexedDB.deleteDatabase(name) };
}

/** Runs one store case. Answers what is wrong, or nothing. */
globalThis.runCase = async (name) => {
  try {
    await runStoreCase(
      storeCases.find((each) => each.name === name),
      open,
    );
    return undefined;
  } catch (error) {
    return error.message;
  }
};
