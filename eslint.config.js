import { fileURLToPath } from 'node:url';
import boundaries from 'eslint-plugin-boundaries';
import tseslint from 'typescript-eslint';

/**
 * The layer rule: transport → domain ← storage and llm, joined in src/compose. Each layer, the folder it lies in, the layers
 * it may import, those it may import types of, and why nothing else. The composition root (src/compose,
 * server.ts, main.ts) may import every layer, and no layer may import it.
 */
const layers = [
  {
    type: 'domain',
    pattern: 'src/domain',
    imports: ['domain'],
    why: 'The domain knows neither HTTP nor SQL: declare the port you need beside its user, and let src/compose pass it in.',
  },
  {
    type: 'storage',
    pattern: 'src/storage',
    imports: ['storage', 'domain'],
    types: ['config', 'observability'],
    why: 'A store serves the domain through its ports; settings, loggers and observers are handed in by src/compose.',
  },
  {
    type: 'llm',
    pattern: 'src/llm',
    imports: ['llm', 'domain'],
    types: ['config', 'observability'],
    why: 'It asks language models for the domain, through its port; settings and observers are handed in by src/compose.',
  },
  {
    type: 'transport',
    pattern: 'src/transport',
    imports: ['transport', 'domain'],
    types: ['config', 'observability'],
    why: 'A route translates between HTTP and the domain; SQL never reaches it, and what it needs is handed in by src/compose.',
  },
  {
    type: 'ui',
    pattern: 'src/ui',
    imports: ['ui', 'domain', 'transport'],
    types: ['observability'],
    why: 'A page shows what the domain answers; it never asks a store.',
  },
  {
    type: 'config',
    pattern: 'src/config',
    imports: ['config'],
    why: 'The configuration is read before anything else exists, so it depends on nothing.',
  },
  {
    type: 'observability',
    pattern: 'src/observability',
    imports: ['observability'],
    types: ['config', 'domain'],
    why: 'Logs and metrics are used by every layer, so they may depend on none.',
  },
];

/** Packages that would carry one layer's matter into another. */
const packages = [
  {
    from: ['domain', 'transport', 'ui'],
    sources: ['@clickhouse/*', 'better-sqlite3', 'chdb'],
    why: 'Only storage talks to a store.',
  },
  { from: ['domain', 'storage'], sources: ['express', 'helmet'], why: 'Only transport speaks HTTP to clients.' },
  { from: ['domain', 'storage', 'transport', 'ui'], sources: ['openai'], why: 'Only llm talks to language models.' },
  {
    from: ['domain', 'storage', 'llm', 'transport', 'ui'],
    sources: ['winston', 'prom-client', '@opentelemetry/*'],
    why: 'Logs, metrics and traces go through src/observability.',
  },
];

const oneOf = (types) => ({ element: { types: { anyOf: types } } });

const layerPolicies = [
  ...layers.flatMap(({ type, imports, types = [], why }) => [
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
      'boundaries/elements': layers.map(({ type, pattern }) => ({ type, pattern, partialMatch: false })),
      'boundaries/files': [{ category: 'composition', pattern: ['src/*.ts', 'src/compose/*.ts'] }],
    },
    rules: {
      'boundaries/no-unknown-files': 'error',
      'boundaries/dependencies': [
        'error',
        { default: 'allow', checkAllOrigins: true, checkUnknownLocals: true, policies: layerPolicies },
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
    // `say` itself, and the engine, whose lines src/compose/engine-events.ts turns into declared ones.
    ignores: ['src/observability/lines.ts', 'src/storage/clickhouse/engine/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['[callee.object.name=/^(log|logger)$/]', '[callee.object.property.name=/^(log|logger)$/]'].map(
          (object) => ({
            selector: `CallExpression[callee.property.name=/^(error|warn|info|debug)$/]${object}`,
            message:
              'Declare the line in src/observability/lines, with what to do about it, and write it by `say`: the manual lists all of them.',
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
    },
  },
);
