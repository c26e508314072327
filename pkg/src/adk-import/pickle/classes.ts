// The Python classes that the actions of an event can have. None of them is ever run: only their data is read.

/** Models of pydantic: objects with members. By module. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  'google.adk.events.event_actions': ['EventActions', 'EventCompaction'],
  'google.adk.events.ui_widget': ['UiWidget'],
  'google.adk.tools.tool_confirmation': ['ToolConfirmation'],
  'google.adk.auth.auth_tool': ['AuthConfig'],
  'google.adk.auth.auth_schemes': ['CustomAuthScheme', 'ExtendedOAuth2', 'OpenIdConnectWithConfig'],
  'google.adk.auth.auth_credential': [
    ...['AuthCredential', 'HttpAuth', 'HttpCredentials', 'OAuth2Auth', 'ServiceAccount', 'ServiceAccountCredential'],
  ],
  'fastapi.openapi.models': [
    ...['APIKey', 'HTTPBase', 'HTTPBearer', 'OAuth2', 'OAuthFlow', 'OAuthFlows', 'OpenIdConnect', 'SecurityBase'],
    ...['OAuthFlowAuthorizationCode', 'OAuthFlowClientCredentials', 'OAuthFlowImplicit', 'OAuthFlowPassword'],
    'SecurityScheme',
  ],
  'google.genai.types': [
    ...['Blob', 'CodeExecutionResult', 'Content', 'ExecutableCode', 'FileData', 'FunctionCall', 'FunctionResponse'],
    ...['FunctionResponseBlob', 'FunctionResponseFileData', 'FunctionResponsePart', 'Part', 'PartMediaResolution'],
    ...['PartialArg', 'SpeechMetadata', 'ToolCall', 'ToolResponse', 'Transcription', 'VideoMetadata', 'WordInfo'],
  ],
};

/** Enums, which are made from their value. */
const ENUMS: Readonly<Record<string, readonly string[]>> = {
  'google.adk.auth.auth_credential': ['AuthCredentialTypes'],
  'google.adk.auth.auth_schemes': ['OAuthGrantType'],
  'fastapi.openapi.models': ['APIKeyIn', 'SecuritySchemeType'],
  'google.genai.types': [
    ...['FunctionResponseScheduling', 'Language', 'MediaProcessing', 'Outcome', 'PartMediaResolutionLevel'],
    'ToolType',
  ],
};

/** Data types of Python itself. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  builtins: [
    'dict',
    'list',
    'set',
    'frozenset',
    'tuple',
    'str',
    'bytes',
    'bytearray',
    'int',
    'float',
    'bool',
    'complex',
  ],
  collections: ['OrderedDict', 'defaultdict'],
  datetime: ['date', 'datetime', 'time', 'timedelta', 'timezone'],
  decimal: ['Decimal'],
  uuid: ['UUID'],
  pathlib: ['PurePosixPath', 'PureWindowsPath', 'PosixPath', 'WindowsPath'],
  // The module of these classes in Python 3.13.
  'pathlib._local': ['PurePosixPath', 'PureWindowsPath', 'PosixPath', 'WindowsPath'],
};

const paths = (table: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> =>
  new Set(Object.entries(table).flatMap(([module, names]) => names.map((name) => `${module}.${name}`)));

const models = paths(MODELS);
const enums = paths(ENUMS);
const plain = paths(PLAIN);

/** True when a class may be in the actions of an event. */
export function isAllowed(module: string, name: string): boolean {
  const path = `${module}.${name}`;
  return models.has(path) || enums.has(path) || plain.has(path);
}

/** True when a class, given as `module.name`, is a model of pydantic. */
export function isModel(path: string): boolean {
  return models.has(path);
}

/** True when a class is an enum. */
export function isEnum(path: string): boolean {
  return enums.has(path);
}
