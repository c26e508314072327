// The import rules, checked by `npm run check`. A type that is imported counts, too. ARCHITECTURE.md says what the
// folders are for, and why the arrows go this way; a file that needs more than its folder may import belongs
// elsewhere.

/** The contract of stores, and what it needs. */
const CONTRACT = ['store', 'model', 'async'];
const STORE = ['stores/shared', 'checks', ...CONTRACT];
/** The sessions in memory, and how a change to them is prepared. */
const SESSIONS = ['session', 'input', 'engine', ...CONTRACT];
/** A framework or a format beside the service. */
const ADAPTER = ['service', 'session', 'template', 'engine', 'input', 'checks', 'model', 'async'];

/** The folders of backend/durable from the bottom up. */
const CACHE = ['backend/durable/commit', 'watch', ...SESSIONS];
const WRITER = ['backend/durable/cache', 'backend/durable/commit', 'backend', 'lease', ...SESSIONS];
const OPERATIONS = [...WRITER, 'past', 'watch', 'update'];
const UPDATE = [...WRITER, 'backend/durable/operations', 'update'];

/**
 * For each folder of pkg/src, the folders that it may import besides itself. Each name means the folder and what is
 * under it, but for folders that have a line of their own.
 */
const PACKAGE = {
  async: [],
  model: ['async'],
  checks: ['model'],
  store: ['model', 'async'],
  engine: ['model'],
  input: ['checks', 'model'],
  update: CONTRACT,
  lease: ['checks', ...CONTRACT],
  session: ['engine', 'input', 'lease', 'checks', 'model', 'store'],
  past: ['session', 'engine', 'model', 'async'],
  watch: ['session', 'engine', ...CONTRACT],
  template: ['engine', 'input', 'checks', 'model', 'async'],
  context: ['input', 'template', 'checks', 'model', 'async'],
  backend: ['past', 'watch', 'update', 'lease', 'checks', ...SESSIONS],
  'backend/durable/commit': ['engine', ...CONTRACT],
  'backend/durable/cache': CACHE,
  'backend/durable/operations': OPERATIONS,
  'backend/durable/update': UPDATE,
  'backend/durable/watch': [
    ...['backend/durable/operations', 'backend/durable/cache', 'watch', 'session', 'engine'],
    ...CONTRACT,
  ],
  'backend/durable': [
    ...['watch', 'update', 'operations', 'cache', 'commit'].map((name) => `backend/durable/${name}`),
    ...['backend', 'past', 'watch', 'update', 'lease', 'session', 'input', 'stores/journal'],
    ...CONTRACT,
  ],
  // stores/journal: only for the type of the callbacks that its options take.
  service: [
    ...['backend', 'backend/durable', 'past', 'watch', 'update', 'lease', 'context', 'checks', 'stores/journal'],
    ...SESSIONS,
  ],
  adk: ADAPTER,
  jsonl: ['transfer', ...ADAPTER],
  // What sessions from elsewhere, lines or the database of an ADK, have in common on their way into a service.
  transfer: ['service', 'model', 'async'],
  // stores/adk-database finds out whose database something is; stores/sqlite-core knows the libraries for SQLite. The
  // reading in place is a store.
  'adk-import': ['transfer', 'jsonl', 'service', 'stores/adk-database', 'stores/sqlite-core', ...STORE],
  http: ['checks', 'model', 'async'],
  // The forms of an event in the sessions API of Agent Engine, for the store over it and the server of it.
  'api-event': ['model'],
  serve: ['http', 'service', 'api-event', 'input', 'checks', 'model', 'async'],
  // It puts the inspector's files beside a server, of a service or of another server's routes. For Node alone.
  inspect: ['serve', 'http', 'service', 'checks', 'model', 'async'],
  client: ['http', 'update', 'lease', 'input', 'checks', 'model', 'async'],
  react: ['model', 'async'],
  testing: ['store', 'model'],
  'stores/shared': ['checks', ...CONTRACT],
  'stores/adk-database': ['stores/postgres', ...STORE],
  'stores/cloudflare': ['stores/sqlite-core', ...STORE],
  'stores/encrypted': STORE,
  'stores/indexeddb': STORE,
  'stores/journal': ['stores/memory', ...STORE],
  'stores/memory': STORE,
  'stores/postgres': STORE,
  'stores/redis': STORE,
  'stores/sqlite': ['stores/sqlite-core', ...STORE],
  'stores/sqlite-core': STORE,
  'stores/vertex-ai': ['api-event', ...STORE],
};

/** Files that only their own folder imports. */
const INTERNAL = { session: ['merged-state', 'scope-table', 'scope-values', 'session-index'] };

/** The folders of pkg/src that import what the package exports, and are imported by one entry alone. */
const APPLICATIONS = ['cli', 'inspector'];

/** As PACKAGE, for pkg/src/inspector. `shell` puts the panes together; no pane knows another one. */
const PANE = ['model', 'ui'];
const INSPECTOR = {
  model: [],
  ui: ['model'],
  conversation: [...PANE, 'timeline'],
  details: [...PANE, 'timeline'],
  sessions: PANE,
  state: [...PANE, 'timeline'],
  template: PANE,
  timeline: PANE,
};

const inside = (root, folders) => folders.map((folder) => `^${root}/${folder}/`);

/** The files of a folder of a table, without those of the folders in it that the table names by themselves. */
function ownFiles(table, root, folder) {
  const nested = Object.keys(table).filter((name) => name.startsWith(`${folder}/`));
  const others = nested.map((name) => `${name.slice(folder.length + 1)}/`);
  return `^${root}/${folder}/${others.length > 0 ? `(?!${others.join('|')})` : ''}`;
}

/** A rule for the internal files of each folder. */
function internalRules(internal) {
  return Object.entries(internal).map(([folder, names]) => ({
    name: `pkg/src/${folder}, internal`,
    comment: `only pkg/src/${folder} imports its ${names.join(', ')}`,
    severity: 'error',
    from: { path: '^pkg/src/', pathNot: `^pkg/src/${folder}/` },
    to: { path: `^pkg/src/${folder}/(${names.join('|')})[.]ts$` },
  }));
}

/** A rule for every folder of a table: it imports no file under `root` but those of the folders that it may. */
function rulesOf(table, root) {
  return Object.entries(table).map(([folder, may]) => ({
    name: `${root}/${folder}`,
    comment: `${root}/${folder} may import ${may.join(', ') || 'nothing'} and itself`,
    severity: 'error',
    from: { path: ownFiles(table, root, folder) },
    to: { path: `^${root}/`, pathNot: [folder, ...may].map((name) => ownFiles(table, root, name)) },
  }));
}

const folders = (table) => [...new Set(Object.keys(table).map((name) => name.split('/')[0]))];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no circles of files',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no circles of folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    ...rulesOf(PACKAGE, 'pkg/src'),
    ...rulesOf(INSPECTOR, 'pkg/src/inspector'),
    ...internalRules(INTERNAL),
    {
      name: 'no folder without a rule',
      comment: 'the tables in .dependency-cruiser.cjs say for every folder what it may import: add this one',
      severity: 'error',
      from: {
        path: ['^pkg/src/[^/]+/', '^pkg/src/inspector/[^/]+/'],
        pathNot: [
          ...inside('pkg/src', [...Object.keys(PACKAGE), 'cli']),
          ...inside('pkg/src/inspector', [...folders(INSPECTOR), 'shell']),
          '^pkg/src/inspector/[^/]+$',
        ],
      },
      to: {},
    },
    {
      name: 'entries are imported by nothing',
      comment: 'the files beside the folders of pkg/src are what the package exports: import the file that has it',
      severity: 'error',
      from: { path: '^pkg/src/', pathNot: inside('pkg/src', APPLICATIONS) },
      to: { path: '^pkg/src/[^/]+$' },
    },
    ...APPLICATIONS.map((folder) => ({
      name: `${folder} uses public names`,
      comment: 'it is built on what the package exports, as any other program: import an entry',
      severity: 'error',
      from: { path: `^pkg/src/${folder}/` },
      to: {
        path: '^pkg/',
        pathNot: [`^pkg/src/${folder}/`, `^pkg/src/(?!${folder}[.])[^/]+$`, '^pkg/src/stores/[^/]+/index[.]ts$'],
      },
    })),
    {
      name: 'one way to the module',
      comment: 'only pkg/src/engine imports what is built from the crate',
      severity: 'error',
      from: { path: '^(pkg/src|www)/', pathNot: '^pkg/src/engine/' },
      to: { path: ['(^|/)wasm/statepad', '^#load$', '^pkg/src/engine/load[.]'] },
    },
    {
      name: 'the package needs no other',
      comment:
        'a client of a database is given by its user; @google/adk is for pkg/src/adk alone, React for pkg/src/react; ' +
        'the inspector has its libraries in its bundle',
      severity: 'error',
      from: { path: '^pkg/src/', pathNot: '^pkg/src/inspector/' },
      to: {
        path: ['^node_modules/', '^[^./#]'],
        pathNot: ['^node_modules/(@google/(adk|genai)|@types/react)/', '^@google/', '^react$', '^pkg/', '^node:'],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'React only in react',
      severity: 'error',
      from: { path: '^pkg/src/', pathNot: '^pkg/src/react/' },
      to: { path: ['^node_modules/@types/react/', '^react$'] },
    },
    {
      name: '@google/adk only in adk',
      severity: 'error',
      from: { path: '^pkg/src/', pathNot: '^pkg/src/adk([.]ts$|/)' },
      to: { path: ['^node_modules/@google/', '^@google/'] },
    },
    {
      name: 'www uses public names',
      comment:
        'the page is built on what the package exports, as any other page: import it from statepad or statepad/...',
      severity: 'error',
      from: { path: '^www/' },
      to: { path: ['^pkg/', '^statepad/(dist|src|wasm)(/|$)'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(pkg|www)/dist/' },
  },
};
