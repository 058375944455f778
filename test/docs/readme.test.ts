import { readFileSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { configurationTable, mainSettingsTable } from '../../src/config/documentation.js';
import { settingDefinitions } from '../../src/config/settings.js';
import { REMOVED_SETTINGS } from '../../src/config/unknown-variables.js';
import { blocks } from './commands.js';
import { EXPERIMENT_VARIABLES } from '../../scripts/ci/environment.js';
import { OPENTELEMETRY_VARIABLES } from './opentelemetry-variables.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');
const folder = 'src/http/manual/static';
const manual = readdirSync(new URL(`../../../${folder}`, import.meta.url)).map((file) => read(`${folder}/${file}`));
/** Everything that people read who run or change a server. */
const others = [
  '.github/CONTRIBUTING.md',
  'src/README.md',
  'src/engine/traces/README.md',
  'src/engine/metadata/README.md',
];
const documents = [readme, ...others.map(read), ...manual].join('\n');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

describe('README and manual', () => {
  it('README has at most 250 lines', () => {
    expect(readme.split('\n').length).to.be.at.most(250);
  });

  it('shows the settings that matter first as they are defined', () => {
    const shown = readme.split('<!-- config:start -->')[1]?.split('<!-- config:end -->')[0]?.trim();
    expect(shown, 'run `npm run generate`').to.equal(mainSettingsTable());
  });

  it('has a row with a meaning for every setting, and no cell that breaks the table', () => {
    const rows = configurationTable().split('\n').slice(2);
    expect(rows).to.have.lengthOf(settingDefinitions.length);
    for (const row of rows) expect(row.split(/(?<!\\)\|/), row).to.have.lengthOf(5);
  });

  it('names only commands that exist', () => {
    const named = [...documents.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
    expect(named).to.include.members(['demo', 'bench', 'admin', 'format', 'generate']);
    for (const name of named) expect(scripts, `npm run ${String(name)}`).to.have.property(String(name));
    expect(scripts).to.include.keys('start', 'test');
  });

  it('has commands that can be copied into any shell', () => {
    const commands = [readme, ...manual].flatMap((text) => blocks(text)).join('\n');
    // Scripts have no aliases; zsh takes comments behind commands for arguments, `$NAME:run` for a modifier, and brackets for files.
    expect(commands).to.not.match(/^alias /m);
    expect(commands).to.not.match(/^[^#\n'"]*\S +# /m);
    expect(commands).to.not.match(/\$[A-Z]+:/);
    expect(commands).to.not.match(/\bpick [^'\n]*\[/);
    expect(commands, 'house and span begin with SPANHOUSE_URL').to.not.match(
      /^.*\b(house|span) .*http:\/\/127\.0\.0\.1/m,
    );
    expect(commands).to.not.include('$PROJECT');
  });

  it('names only variables that exist', () => {
    const known = new Set<string>([
      ...settingDefinitions.map(([name]) => name),
      'SPANHOUSE_KEY',
      // The old name of the former.
      'SPANHOUSE_API_KEY',
      // What earlier versions had.
      ...Object.keys(REMOVED_SETTINGS),
      ...OPENTELEMETRY_VARIABLES,
      // Those that count for the server's own traces.
      'OTEL_RESOURCE_ATTRIBUTES',
      'OTEL_EXPORTER_OTLP_TIMEOUT',
      'OPENAI_API_KEY',
      'ZEROEVAL_API_URL',
      'ZEROEVAL_API_KEY',
      'GRAFANA_PASSWORD',
      ...['HOST', 'BASEURL', 'BASE_URL', 'PUBLIC_KEY', 'SECRET_KEY'].map((name) => `LANGFUSE_${name}`),
      'LANGSMITH_TRACING',
      'LANGSMITH_ENDPOINT',
      'LANGSMITH_API_KEY',
      'LANGSMITH_OTEL_ENABLED',
      ...['ENDPOINT', 'HOST', 'COLLECTOR_ENDPOINT', 'API_KEY'].map((name) => `PHOENIX_${name}`),
      ...['PROTOCOL', 'HEADERS'].map((name) => `OTEL_EXPORTER_OTLP_TRACES_${name}`),
      ...['MLFLOW_TRACE_ENABLE_OTLP_DUAL_EXPORT', 'MLFLOW_TRACKING_URI'],
      'SPANHOUSE_PROJECT',
      // Types of spans of MLflow and Laminar.
      'CHAT_MODEL',
      'HUMAN_EVALUATOR',
      ...EXPERIMENT_VARIABLES,
      'GITHUB_STEP_SUMMARY',
      'SPANHOUSE_URL',
      // https://no-color.org
      'NO_COLOR',
      // https://nodejs.org/api/cli.html#node_extra_ca_certsfile
      'NODE_EXTRA_CA_CERTS',
    ]);
    const named = [...documents.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
  });

  it('names settings of earlier versions where it says what changed, and nowhere else', () => {
    const now = manual.filter((text) => !text.startsWith('# See what changed'));
    expect(now).to.have.lengthOf(manual.length - 1);
    const removed = Object.keys(REMOVED_SETTINGS).filter((name) => now.some((text) => text.includes(`\`${name}\``)));
    expect(removed).to.deep.equal([]);
  });
});
