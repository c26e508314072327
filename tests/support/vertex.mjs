// The strict fake of Agent Engine's sessions, from its sources in `vertex/`.

import { source } from './source.mjs';

export const { fakeVertexAi } = await source('../../tests/support/vertex/index.ts');
