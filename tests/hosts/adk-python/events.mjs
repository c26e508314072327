// Events with every member that ADK knows, and events that adk-python would refuse to read as they are.

import { numbersFrom } from '../../support/random.js';

/** Events in ADK's JSON, as other ADKs write them. Times are in milliseconds. */
export const RICH = [
  { content: { role: 'user', parts: [{ text: 'hello' }] }, author: 'user' },
  { author: 'agent', partial: false, turnComplete: true, interrupted: false, errorCode: 'X', errorMessage: 'why' },
  {
    author: 'agent',
    branch: 'a.b',
    content: {
      role: 'model',
      parts: [
        {
          functionCall: {
            id: 'f1',
            name: 'look_up',
            args: { userName: 'ana', snake_case: 1, deep: { innerKey: null } },
          },
        },
        { functionCall: { id: 'f2', name: 'other', args: {} } },
        { text: 'a thought', thought: true, thoughtSignature: '+/+/' },
        { inlineData: { mimeType: 'image/png', data: 'AQIDBA==', displayName: 'p' } },
        { fileData: { fileUri: 'gs://x', mimeType: 'text/plain' } },
        { executableCode: { code: 'print(1)', language: 'PYTHON' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { videoMetadata: { startOffset: '1s', endOffset: '2s', fps: 1.5 }, text: 'v' },
      ],
    },
    longRunningToolIds: ['f1', 'f2'],
  },
  {
    author: 'agent',
    content: {
      role: 'user',
      parts: [
        {
          functionResponse: { id: 'f1', name: 'look_up', response: { resultCode: 7, aList: [{ bC: 1 }], none: null } },
        },
      ],
    },
    actions: {
      skipSummarization: true,
      stateDelta: {
        camelKey: { innerKey: [1, 2.5, null] },
        snake_key: 'x',
        'user:favColor': 'red',
        'app:maxTurns': 3,
      },
      artifactDelta: { 'myFile.txt': 2 },
      transferToAgent: 'other',
      escalate: true,
      endOfAgent: true,
      agentState: { stepCount: 3, snake_too: { x: null } },
      requestedToolConfirmations: { f1: { hint: 'sure?', confirmed: false, payload: { amountDue: 5 } } },
      requestedAuthConfigs: {
        f2: {
          authScheme: {
            type: 'oauth2',
            flows: {
              authorizationCode: {
                authorizationUrl: 'https://a',
                tokenUrl: 'https://t',
                scopes: { 'read:x': 'reads' },
              },
            },
          },
          rawAuthCredential: {
            authType: 'oauth2',
            oauth2: { clientId: 'c', clientSecret: 's', tokenEndpointAuthMethod: 'client_secret_basic' },
          },
          credentialKey: 'k',
        },
        f3: { authScheme: { type: 'apiKey', in: 'header', name: 'X-Key' }, credentialKey: 'k2' },
      },
      rewindBeforeInvocationId: 'i0',
      route: ['left', 1, true],
      setModelResponse: { anyThing: [1] },
      compaction: {
        startTimestamp: 1.5,
        endTimestamp: 2.5,
        compactedContent: { role: 'model', parts: [{ text: 'all' }] },
      },
      renderUiWidgets: [{ id: 'w', provider: 'mcp', payload: { resourceUri: 'ui://x' } }],
    },
    customMetadata: { camelCase: { innerKey: 1 }, snake_case: 2, nothing: null },
    output: { camelCase: 1, snake_case: null },
    nodeInfo: { path: 'wf/a@1', outputFor: ['wf/a@1'], messageAsOutput: true },
    isolationScope: 'fc1',
  },
  {
    author: 'agent',
    modelVersion: 'gemini-x',
    finishReason: 'STOP',
    avgLogprobs: -0.25,
    logprobsResult: { chosenCandidates: [{ token: 'a', tokenId: 5, logProbability: -0.5 }], topCandidates: [] },
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      totalTokenCount: 15,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    },
    groundingMetadata: {
      webSearchQueries: ['tides'],
      groundingChunks: [{ web: { uri: 'https://x', title: 'X' } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 3, text: 'abc' }, groundingChunkIndices: [0] }],
      searchEntryPoint: { renderedContent: '<b/>', sdkBlob: 'AQI=' },
    },
    citationMetadata: {
      citations: [{ startIndex: 1, endIndex: 2, uri: 'u', publicationDate: { year: 2024, month: 1, day: 2 } }],
    },
    cacheMetadata: { fingerprint: 'f', contents_count: 3 },
    inputTranscription: { text: 'said', finished: true },
    outputTranscription: { text: 'heard', finished: false },
    liveSessionResumptionUpdate: { newHandle: 'h', resumable: true },
    interactionId: 'int1',
  },
].map((event, index) => ({
  id: `rich-${index}`,
  invocationId: `i-${index}`,
  timestamp: 1_700_000_000_000.25 + index,
  ...event,
}));

/** Events that adk-python does not read as they are: each is read all the same, and comes back to us whole. */
export const ODD = [
  {
    author: 'agent',
    unknownMember: { innerKey: 1 },
    message: 'no content',
    state: { a: 1 },
    route: 'r',
    node_path: 'p',
  },
  { author: 'agent', message: 'beside content', content: { parts: [{ text: 'x' }] } },
  { author: 'agent', actions: { stateDelta: { k: 1 }, unknownAction: true } },
  { author: 'agent', actions: null },
  { author: 'agent', content: null, longRunningToolIds: null },
  {
    author: 'agent',
    content: { role: 'model', parts: [{ text: 'x', unknownPart: 1 }, { text: 5 }, null, 'text', {}] },
  },
  { author: 'agent', content: { parts: 'none' } },
  {
    author: 'agent',
    content: { parts: [{ inlineData: { mimeType: 'x', data: 'not base64!' } }, { inlineData: { data: 'YR==' } }] },
  },
  {
    author: 'agent',
    content: { parts: [{ functionCall: { name: 'f', args: [1, 2] } }, { functionResponse: { response: 'text' } }] },
  },
  { author: 'agent', actions: { artifactDelta: { f: 1.5, g: 'x', h: 2 } } },
  {
    author: 'agent',
    actions: { requestedAuthConfigs: { a: 'text', b: {}, c: { authScheme: { type: 5 } }, d: null } },
  },
  { author: 'agent', actions: { requestedToolConfirmations: { a: 'text', b: { confirmed: 'yes' } } } },
  { author: 'agent', actions: { compaction: { startTimestamp: 1 }, route: 1.5, renderUiWidgets: [{ id: 'w' }] } },
  { author: 7, branch: {}, errorCode: 404, partial: 'false', turnComplete: null, customMetadata: [1] },
  { author: 'agent', usageMetadata: { promptTokenCount: 1.5, unknownCount: 3 }, finishReason: 5, nodeInfo: 'x' },
  { author: 'agent', cacheMetadata: { fingerprint: 'f', contents_count: 1, cache_name: 'only' } },
  { author: 'agent', cacheMetadata: { fingerprint: 'f', contents_count: -1 } },
  {
    author: 'agent',
    actions: {
      requestedAuthConfigs: {
        a: {
          authScheme: { type: 'openIdConnect' },
          rawAuthCredential: { authType: 'serviceAccount', serviceAccount: { scopes: ['x'] } },
        },
        b: {
          authScheme: { type: 'openIdConnect' },
          rawAuthCredential: {
            authType: 'serviceAccount',
            serviceAccount: { useDefaultCredential: true, useIdToken: true },
          },
        },
      },
    },
  },
  { author: 'agent', statepad: { event: { forged: true } } },
  { author: 'agent', timestamp: 1_000.123_456_7 },
].map((event, index) => ({
  id: `odd-${index}`,
  invocationId: `i-${index}`,
  timestamp: 1_700_000_100_000 + index,
  ...event,
}));

/** Events as adk-python's own code makes them, under its own names; times are in seconds. */
export const PYTHON = RICH.map((event) => ({
  ...event,
  id: `python-${event.id}`,
  timestamp: event.timestamp / 1_000,
}));

/** The values that stand in the place of a member by mistake. */
const JUNK = [
  null,
  true,
  0,
  -1.5,
  1e21,
  '',
  'text',
  'AQ==',
  [],
  [null],
  ['x'],
  [1],
  {},
  { a: 1 },
  { type: 'x' },
  [{}],
];

/** A rich event in which some members, wherever they are, are something else; the same ones for the same seed. */
export function spoilt(seed) {
  const random = numbersFrom(seed);
  const event = structuredClone(RICH[random(RICH.length)]);
  for (let count = 1 + random(3); count > 0; count--) {
    let parent = event;
    for (;;) {
      const names = Object.keys(parent).filter((name) => parent !== event || !['id', 'timestamp'].includes(name));
      const name = names[random(names.length)];
      if (name === undefined) break;
      const isDeeper = typeof parent[name] === 'object' && parent[name] !== null && random(5) > 0;
      if (!isDeeper) {
        const there = random(3) === 0 && !Array.isArray(parent) ? `un_known${random(9)}` : name;
        parent[there] = structuredClone(JUNK[random(JUNK.length)]);
        break;
      }
      parent = parent[name];
    }
  }
  return { ...event, id: `spoilt-${String(seed).padStart(4, '0')}`, timestamp: 1_700_000_200_000 + seed };
}
