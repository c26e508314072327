// In the place of Agent Engine, so that programs of the pages run without a network: the fake answers all requests.

import { fakeVertexAi } from '../support/vertex.mjs';

globalThis.fetch = fakeVertexAi().fetch;
