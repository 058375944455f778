import { fileURLToPath } from 'node:url';
import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

/**
 * The rooms of src. Engines lie below, each with few doors, and know no feature; features stand on them, one folder for each
 * noun, with what of it speaks SQLite in `store` and what speaks HTTP in `http`. Imports point down: each room, the folders
 * it is, the rooms it may import, those it may import types of, and why nothing else. A more special folder comes first. The
 * wiring (src/compose, server.ts, main.ts) may import every room, and no room may import it.
 */
const SIGNALS = ['signals', 'config'];
const BASE = ['base', 'models'];
const rooms = [
  {
    type: 'model',
    pattern: 'src/engine/traces/model',
    imports: ['model', ...BASE],
    why: 'It says in types and rules what the trace store takes and gives, to features, too.',
  },
  {
    type: 'traces',
    pattern: 'src/engine/traces',
    imports: ['traces', 'model', ...BASE],
    types: SIGNALS,
    why: 'An engine knows no feature: say in src/engine/traces/model what it gives, and let the feature import that.',
  },
  {
    type: 'metadata',
    pattern: 'src/engine/metadata',
    imports: ['metadata', ...BASE],
    types: SIGNALS,
    why: 'An engine knows no feature: tables of a feature are read and written in its store.',
  },
  {
    type: 'store',
    pattern: ['src/features/*/store', 'src/engine/*/store'],
    imports: ['store', 'metadata', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'A store serves the services of its feature; settings, loggers and observers are handed in by src/compose.',
  },
  {
    type: 'signals',
    pattern: 'src/engine/signals',
    imports: ['signals'],
    types: ['config'],
    why: 'Logs and metrics are used by every room, so they may depend on none.',
  },
  {
    type: 'models',
    pattern: 'src/engine/models',
    imports: BASE,
    types: SIGNALS,
    why: 'It asks language models for whoever does, and knows none of them.',
  },
  {
    type: 'base',
    pattern: ['src/engine/*', 'src/engine'],
    imports: BASE,
    types: SIGNALS,
    why: 'An engine knows no feature, and neither HTTP nor SQL: what it needs is handed in by src/compose.',
  },
  {
    type: 'route',
    pattern: ['src/features/*/http', 'src/features/*/pages'],
    imports: ['route', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'A route translates between HTTP and its feature; SQL never reaches it, and what it needs is handed in by src/compose.',
  },
  {
    type: 'feature',
    pattern: 'src/features/*',
    imports: ['feature', 'model', ...BASE],
    types: ['signals'],
    why: 'A service knows neither HTTP nor SQL: declare the port you need beside its user, and let src/compose pass it in.',
  },
  {
    type: 'http',
    pattern: 'src/http',
    imports: ['http', 'model', ...BASE],
    types: SIGNALS,
    why: 'What every route needs knows no feature, and what it needs is handed in by src/compose.',
  },
  {
    type: 'otlp',
    pattern: 'src/otlp',
    imports: ['otlp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'It translates OTLP to spans; SQL never reaches it, and what it needs is handed in by src/compose.',
  },
  {
    type: 'facade',
    pattern: 'src/facade',
    imports: ['facade', 'otlp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'It is what translations of other systems have in common; it has no store and no rules of its own.',
  },
  {
    type: 'langfuse',
    pattern: 'src/langfuse',
    imports: ['langfuse', 'facade', 'otlp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'It translates calls of Langfuse to those of features; it has no store and no rules of its own.',
  },
  {
    type: 'phoenix',
    pattern: 'src/phoenix',
    imports: ['phoenix', 'facade', 'otlp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'It translates calls of Phoenix to those of features; it has no store and no rules of its own.',
  },
  {
    type: 'langsmith',
    pattern: 'src/langsmith',
    imports: ['langsmith', 'facade', 'otlp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'It translates calls of LangSmith to those of features; it has no store and no rules of its own.',
  },
  {
    type: 'mcp',
    pattern: 'src/mcp',
    imports: ['mcp', 'http', 'feature', 'model', ...BASE],
    types: SIGNALS,
    why: 'Its tools are calls of the API; it has no store and no rules of its own.',
  },
  {
    type: 'control',
    pattern: 'src/control',
    imports: ['control', 'feature', 'model', ...BASE],
    why: 'Commands of this machine ask services; what they need is handed in by src/compose.',
  },
  {
    type: 'console',
    pattern: 'src/console',
    imports: ['console', 'route', 'http', 'feature', 'model', ...BASE],
    why: 'A page shows what the routes answer; it never asks a store.',
  },
  {
    type: 'config',
    pattern: 'src/config',
    imports: ['config'],
    why: 'The configuration is read before anything else exists, so it depends on nothing.',
  },
];

const allBut = (...types) => rooms.map(({ type }) => type).filter((type) => !types.includes(type));

/** Packages that would carry one room's matter into another. */
const packages = [
  { from: allBut('traces'), sources: ['@clickhouse/*', 'chdb'], why: 'Only src/engine/traces talks to ClickHouse.' },
  { from: allBut('metadata', 'store'), sources: ['better-sqlite3'], why: 'Only stores talk to SQLite.' },
  { from: allBut('http'), sources: ['express', 'helmet'], why: 'Only src/http speaks HTTP to clients.' },
  { from: allBut('models'), sources: ['openai'], why: 'Only src/engine/models talks to language models.' },
  {
    from: allBut('base', 'config'),
    sources: ['ajv'],
    why: 'Only src/engine/validation compiles schemas, and none of a client: a pattern in it may keep the only thread forever.',
  },
  {
    from: allBut('signals'),
    sources: ['winston', 'prom-client', '@opentelemetry/*'],
    why: 'Logs, metrics and traces go through src/engine/signals.',
  },
];

const oneOf = (types) => ({ element: { types: { anyOf: types } } });

const roomPolicies = [
  ...rooms.flatMap(({ type, imports, types = [], why }) => [
    {
      from: oneOf([type]),
      disallow: { to: { module: { origin: 'local' } } },
      message: `${type} must not import {{dependency.source}}. ${why}`,
    },
    { from: oneOf([type]), allow: { to: oneOf(imports) } },
    ...(types.length === 0 ? [] : [{ from: oneOf([type]), allow: { to: oneOf(types), dependency: { kind: 'type' } } }]),
  ]),
  ...packages.map(({ from, sources, why }) => ({
    from: oneOf(from),
    disallow: { to: { module: { origin: 'external', source: sources } } },
    message: `{{from.element.types}} must not import {{dependency.source}}. ${why}`,
  })),
];

export default tseslint.config(
  { ignores: ['dist/', 'data/', 'node_modules/'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: fileURLToPath(new URL('.', import.meta.url)) },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // Numbers in a template are what they look like.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // With index signatures checked by the compiler, these two only fight it.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Packages that ship two copies of a class's type would fail it for nothing.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // A default says what the rest has in common.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // Services here are objects of closures, written as methods; none of them uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      // There are no enums: types are stripped, not compiled. Looking for them takes a quarter of the time of all rules.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // A method that must be async by its interface need not await anything.
      '@typescript-eslint/require-await': 'off',
      // What was thrown is passed on as it came.
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingUnknown: true, allowThrowingAny: true },
      ],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    plugins: { boundaries },
    settings: {
      'import/resolver': { [fileURLToPath(new URL('scripts/eslint-resolver.cjs', import.meta.url))]: {} },
      'boundaries/root-path': fileURLToPath(new URL('.', import.meta.url)),
      'boundaries/elements': rooms.map(({ type, pattern }) => ({ type, pattern, partialMatch: false })),
      'boundaries/files': [{ category: 'composition', pattern: ['src/*.ts', 'src/compose/**/*.ts'] }],
    },
    rules: {
      'boundaries/no-unknown-files': 'error',
      'boundaries/dependencies': [
        'error',
        { default: 'allow', checkAllOrigins: true, checkUnknownLocals: true, policies: roomPolicies },
      ],
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only src/config reads the environment; take a value of Config.',
        },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: ['process', 'node:process'].map((name) => ({
            name,
            importNames: ['env'],
            message: 'Only src/config reads the environment; take a value of Config.',
          })),
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    // The engine: src/compose/engine-events.ts turns its lines into declared ones.
    ignores: ['src/engine/traces/clickhouse/process/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['[callee.object.name=/^(log|logger)$/]', '[callee.object.property.name=/^(log|logger)$/]'].map(
          (object) => ({
            selector: `CallExpression[callee.property.name=/^(error|warn|info|debug)$/]${object}`,
            message:
              'Declare the line in src/engine/signals/catalog, with what to do about it, and call its function: the manual lists all of them.',
          }),
        ),
      ],
    },
  },
  { files: ['src/main.ts'], rules: { 'no-console': 'off' } },
  {
    // Assertions of chai are expressions, and tests look into answers of every shape: a wrong guess fails an assertion.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      // A quarter of the time of all rules; what the product uses is looked at.
      '@typescript-eslint/no-deprecated': 'off',
    },
  },
);
