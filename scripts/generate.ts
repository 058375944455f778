/**
 * `npm run generate`: writes every file, or part of a file, that is derived from a definition in the sources.
 * With `--check` it writes nothing and fails when something is stale; CI runs it so.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadConfig } from '../src/config/config.js';
import { mainSettingsTable, passedVariables } from '../src/config/documentation.js';
import { SNIPPETS_WRITTEN, snippetTabs } from '../src/http/manual/snippets.js';
import { API_CALLS_FILE } from '../src/http/api-calls.js';
import { startServer } from '../src/server.js';
import { apiCallsFile, apiCallsOf } from './generate/api-calls.js';
import { clickHouseSchema } from './generate/clickhouse-schema.js';
import { consoleIcons } from './generate/console-icons.js';
import { helmValues } from './generate/helm-values.js';
import { keyScopes, roleScopes } from './generate/key-scopes.js';
import { monitoring } from './generate/monitoring.js';

const root = new URL('../../', import.meta.url);

const MANUAL = 'src/http/manual/static';

/** One derived file: where it is, and what it must hold given what it holds. */
interface Generated {
  readonly path: string;
  readonly content: (current: string) => string;
}

/** Replaces the lines between the one that holds `name:start` and the one that holds `name:end`; both must be there once. */
export function replaceSection(text: string, name: string, content: string): string {
  const section = new RegExp(`^(.*\\b${name}:start\\b.*\\n)[^]*?^(.*\\b${name}:end\\b)`, 'm');
  if (!section.test(text)) throw new Error(`The lines with ${name}:start and ${name}:end are missing.`);
  return text.replace(section, (_, start: string, end: string) => `${start}${content}\n${end}`);
}

async function generatedFiles(): Promise<Generated[]> {
  const openApi = await openApiDocument();
  const schema = await clickHouseSchema();
  const icons = await consoleIcons();
  const { files, alerts } = await monitoring();
  const programs = snippetTabs(SNIPPETS_WRITTEN);
  return [
    { path: 'README.md', content: (current) => replaceSection(current, 'config', mainSettingsTable()) },
    { path: 'docker-compose.yml', content: (current) => replaceSection(current, 'variables', passedVariables()) },
    { path: 'scripts/deploy/helm/values.schema.json', content: helmValues },
    { path: 'schema/openapi.json', content: () => `${JSON.stringify(openApi, null, 2)}\n` },
    { path: API_CALLS_FILE, content: () => apiCallsFile(apiCallsOf(openApi)) },
    { path: 'schema/clickhouse/current.sql', content: () => schema },
    { path: 'src/console/app/parts/icon-shapes.ts', content: () => icons },
    // Markdown begins a table behind a comment only after a blank line.
    { path: `${MANUAL}/monitoring.md`, content: (current) => replaceSection(current, 'alerts', `\n${alerts}\n`) },
    {
      path: `${MANUAL}/api-keys.md`,
      content: (current) => replaceSection(current, 'scopes', `\n${keyScopes(openApi)}\n`),
    },
    { path: `${MANUAL}/people.md`, content: (current) => replaceSection(current, 'roles', `\n${roleScopes()}\n`) },
    { path: `${MANUAL}/send-traces.md`, content: (current) => replaceSection(current, 'snippets', `\n${programs}\n`) },
    ...[...files].map(([path, text]) => ({ path, content: () => text })),
  ];
}

/** The document as a server answers it: only a server knows all of its routes. */
async function openApiDocument(): Promise<unknown> {
  const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-generate-'));
  try {
    const server = await startServer(loadConfig({ DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' }));
    try {
      const response = await fetch(`${server.url}/openapi.json`, { signal: AbortSignal.timeout(10_000) });
      if (!response.ok) throw new Error(`GET /openapi.json answered ${response.status}`);
      return await response.json();
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function main(check: boolean): Promise<number> {
  const stale: string[] = [];
  for (const { path, content } of await generatedFiles()) {
    const file = fileURLToPath(new URL(path, root));
    const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const wanted = content(current);
    if (current === wanted) continue;
    stale.push(path);
    if (!check) writeFileSync(file, wanted);
  }
  if (stale.length === 0) console.log('Everything generated is up to date.');
  else if (check) console.error(`Stale: ${stale.join(', ')}. Run \`npm run generate\` and commit the result.`);
  else console.log(`Written: ${stale.join(', ')}.`);
  return check && stale.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.exitCode = await main(process.argv.includes('--check'));
}
