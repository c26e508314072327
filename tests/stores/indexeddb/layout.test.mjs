// The fingerprint of the object stores of an IndexedDB database follows their description.

import { test } from 'node:test';
import { assertLayout } from '../../support/layout.mjs';
import { source } from '../../support/source.mjs';

const { LAYOUT, TABLES } = await source('stores/indexeddb/schema.ts');

test('the fingerprint is that of the object stores', () => assertLayout(LAYOUT, JSON.stringify(TABLES)));
