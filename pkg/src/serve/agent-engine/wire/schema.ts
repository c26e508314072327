// The messages of the API that a body may hold, as its discovery documents of November 2026 list them, with the unions
// of its protocol buffers. A field is described by a text:
//
//   string bool int32 float double bytes          a value
//   timestamp duration struct                     a well-known type
//   moment                                        a timestamp, or an object with its seconds and nanos
//   map string, map int32                         a map from strings
//   enum A B C                                    one of these names, or its number, counted from 0
//   Name                                          a message of this table
//   []...                                         a list of any of these but maps
//
// followed by `?` when a value that is the default is another than none, or `|name` when it is a member of the union
// of that name, where this is so as well; and `@v1` or `@v1beta1` when only that version of the API has it.

/** The versions of the API. */
export type Version = 'v1' | 'v1beta1';

/** The fields of a message, by their names in JSON. */
export type Fields = Readonly<Record<string, string>>;

/** Fields in addition to those of the API, or in their place: by the names of their messages. */
export type FurtherFields = Readonly<Record<string, Fields>>;

const MESSAGES: Readonly<Record<string, Fields>> = {
  Session: {
    name: 'string',
    createTime: 'timestamp',
    updateTime: 'timestamp',
    displayName: 'string',
    labels: 'map string',
    sessionState: 'struct',
    userId: 'string',
    expireTime: 'timestamp|expiration',
    ttl: 'duration|expiration',
  },
  SessionEvent: {
    name: 'string',
    author: 'string',
    content: 'Content',
    invocationId: 'string',
    actions: 'EventActions',
    timestamp: 'timestamp',
    errorCode: 'string',
    errorMessage: 'string',
    eventMetadata: 'EventMetadata',
    rawEvent: 'struct',
  },
  EventActions: {
    skipSummarization: 'bool',
    stateDelta: 'struct',
    artifactDelta: 'map int32',
    escalate: 'bool',
    requestedAuthConfigs: 'struct',
    transferAgent: 'string',
  },
  EventMetadata: {
    groundingMetadata: 'GroundingMetadata',
    partial: 'bool',
    turnComplete: 'bool',
    interrupted: 'bool',
    longRunningToolIds: '[]string',
    branch: 'string',
    customMetadata: 'struct',
    inputTranscription: 'Transcription',
    outputTranscription: 'Transcription',
  },
  Transcription: { text: 'string', finished: 'bool' },
  Content: { role: 'string', parts: '[]Part' },
  Part: {
    text: 'string|data',
    inlineData: 'Blob|data',
    fileData: 'FileData|data',
    videoMetadata: 'VideoMetadata|metadata',
    functionCall: 'FunctionCall|data',
    functionResponse: 'FunctionResponse|data',
    executableCode: 'ExecutableCode|data',
    codeExecutionResult: 'CodeExecutionResult|data',
    thought: 'bool',
    thoughtSignature: 'bytes',
    mediaResolution: 'Part.MediaResolution',
    audioTranscription: 'AudioTranscription',
    speechMetadata: 'SpeechMetadata',
    mediaProcessing: 'enum MEDIA_PROCESSING_UNSPECIFIED STATIC AGENTIC@v1beta1',
  },
  'Part.MediaResolution': {
    level:
      'enum MEDIA_RESOLUTION_UNSPECIFIED MEDIA_RESOLUTION_LOW MEDIA_RESOLUTION_MEDIUM MEDIA_RESOLUTION_HIGH ' +
      'MEDIA_RESOLUTION_ULTRA_HIGH|value',
  },
  AudioTranscription: { text: 'string', speakerLabel: 'string', words: '[]AudioTranscription.WordInfo' },
  'AudioTranscription.WordInfo': { word: 'string', startOffset: 'duration', endOffset: 'duration' },
  SpeechMetadata: { speaker: 'string', style: 'string' },
  Blob: { mimeType: 'string', data: 'bytes', displayName: 'string' },
  FileData: { mimeType: 'string', fileUri: 'string', displayName: 'string' },
  VideoMetadata: { startOffset: 'duration', endOffset: 'duration', fps: 'double' },
  FunctionCall: {
    name: 'string',
    args: 'struct',
    id: 'string',
    partialArgs: '[]PartialArg',
    willContinue: 'bool',
  },
  PartialArg: {
    jsonPath: 'string',
    nullValue: 'enum NULL_VALUE|delta',
    numberValue: 'double|delta',
    stringValue: 'string|delta',
    boolValue: 'bool|delta',
    willContinue: 'bool',
  },
  FunctionResponse: {
    name: 'string',
    response: 'struct',
    id: 'string',
    parts: '[]FunctionResponsePart',
    scheduling: 'enum SCHEDULING_UNSPECIFIED SILENT WHEN_IDLE INTERRUPT',
  },
  FunctionResponsePart: {
    inlineData: 'FunctionResponseBlob|data',
    fileData: 'FunctionResponseFileData|data',
  },
  FunctionResponseBlob: { mimeType: 'string', data: 'bytes', displayName: 'string' },
  FunctionResponseFileData: { mimeType: 'string', fileUri: 'string', displayName: 'string' },
  ExecutableCode: { language: 'enum LANGUAGE_UNSPECIFIED PYTHON', code: 'string', id: 'string' },
  CodeExecutionResult: {
    outcome: 'enum OUTCOME_UNSPECIFIED OUTCOME_OK OUTCOME_FAILED OUTCOME_DEADLINE_EXCEEDED',
    output: 'string',
    id: 'string',
  },
  GroundingMetadata: {
    webSearchQueries: '[]string',
    imageSearchQueries: '[]string',
    retrievalQueries: '[]string',
    searchEntryPoint: 'SearchEntryPoint?',
    groundingChunks: '[]GroundingChunk',
    groundingSupports: '[]GroundingSupport',
    retrievalMetadata: 'RetrievalMetadata?',
    googleMapsWidgetContextToken: 'string?',
    sourceFlaggingUris: '[]GroundingMetadata.SourceFlaggingUri',
  },
  'GroundingMetadata.SourceFlaggingUri': { sourceId: 'string', flagContentUri: 'string' },
  SearchEntryPoint: { renderedContent: 'string', sdkBlob: 'bytes' },
  GroundingChunk: {
    web: 'GroundingChunk.Web|chunk_type',
    retrievedContext: 'GroundingChunk.RetrievedContext|chunk_type',
    maps: 'GroundingChunk.Maps|chunk_type',
    image: 'GroundingChunk.Image|chunk_type',
  },
  'GroundingChunk.Image': { sourceUri: 'string', imageUri: 'string', title: 'string', domain: 'string' },
  'GroundingChunk.Web': { uri: 'string?', title: 'string?', domain: 'string?' },
  'GroundingChunk.RetrievedContext': {
    uri: 'string?',
    title: 'string?',
    text: 'string?',
    ragChunk: 'RagChunk|context_details',
    documentName: 'string?',
  },
  RagChunk: {
    text: 'string',
    pageSpan: 'RagChunk.PageSpan?',
    fileId: 'string',
    chunkId: 'string',
  },
  'RagChunk.PageSpan': { firstPage: 'int32', lastPage: 'int32' },
  'GroundingChunk.Maps': {
    uri: 'string?',
    title: 'string?',
    text: 'string?',
    placeId: 'string?',
    placeAnswerSources: 'GroundingChunk.Maps.PlaceAnswerSources',
    route: 'GroundingChunk.Maps.Route',
  },
  'GroundingChunk.Maps.PlaceAnswerSources': {
    reviewSnippets: '[]GroundingChunk.Maps.PlaceAnswerSources.ReviewSnippet',
  },
  'GroundingChunk.Maps.PlaceAnswerSources.ReviewSnippet': {
    reviewId: 'string',
    googleMapsUri: 'string',
    title: 'string',
  },
  'GroundingChunk.Maps.Route': { distanceMeters: 'int32', duration: 'duration', encodedPolyline: 'string' },
  GroundingSupport: {
    segment: 'Segment?',
    groundingChunkIndices: '[]int32',
    confidenceScores: '[]float',
    renderedParts: '[]int32',
  },
  Segment: { partIndex: 'int32', startIndex: 'int32', endIndex: 'int32', text: 'string' },
  RetrievalMetadata: { googleSearchDynamicRetrievalScore: 'float' },
};

/** A field of a message. */
export interface Field {
  /** Its name in JSON, and that of its protocol buffer. */
  readonly name: string;
  readonly protoName: string;
  /** `string`, `map string`, `enum ...`, or the name of a message. */
  readonly type: string;
  readonly isList: boolean;
  /** True when a value that is the default is another than none. */
  readonly hasPresence: boolean;
  /** The union that it is a member of. */
  readonly union: string | undefined;
}

const WELL_KNOWN = new Set(['timestamp', 'moment', 'duration', 'struct']);
const SPEC = /^(\[\])?([^?|@]+)(\?)?(?:\|(\w+))?(?:@(\w+))?$/;

/** The fields of a message in one version of the API, in their order. */
export function fieldsOf(message: string, version: Version, further: FurtherFields = NONE): readonly Field[] {
  const known = knownFields.get(further) ?? new Map<string, readonly Field[]>();
  knownFields.set(further, known);
  const key = `${version} ${message}`;
  let fields = known.get(key);
  if (fields === undefined) {
    const all = { ...MESSAGES[message], ...further[message] };
    fields = Object.entries(all).flatMap(([name, spec]) => fieldOf(name, spec, version));
    known.set(key, fields);
  }
  return fields;
}

const NONE: FurtherFields = {};
const knownFields = new WeakMap<FurtherFields, Map<string, readonly Field[]>>();

function fieldOf(name: string, spec: string, version: Version): Field[] {
  const [, list, type = '', presence, union, only] = SPEC.exec(spec) ?? [];
  const isList = list !== undefined;
  const isFlagged = presence !== undefined || union !== undefined;
  const hasPresence = isFlagged || (!isList && (isMessage(type) || WELL_KNOWN.has(type)));
  const field = { name, protoName: protoNameOf(name), type, isList, hasPresence, union };
  return only === undefined || only === version ? [field] : [];
}

/** True when a type is a message of the table. */
export function isMessage(type: string): boolean {
  return Object.hasOwn(MESSAGES, type);
}

/** The name of a field in its protocol buffer, from that in JSON. */
export function protoNameOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
