import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { packageRoot } from '../../src/engine/files/schema-files.js';
import { linesTable, metricsTable } from '../../src/engine/signals/documentation.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { answer, passing } from '../judges/model-endpoint.js';
import { eventually, JudgeBench } from '../judges/judge-api.js';
import { hasPrometheus, MONITORING, Prometheus, promtool } from './prometheus.js';

const read = (path: string) => readFileSync(join(MONITORING, path), 'utf8');
const board: { readonly panels: readonly Panel[]; readonly templating: any } = JSON.parse(
  read('grafana/dashboards/spanhouse.json'),
);
const panels: Panel[] = board.panels.filter(({ type }: Panel) => type !== 'row');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly datasource: unknown;
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly { readonly refId: string; readonly expr: string }[];
}
const rules: any[] = parse(read('alerts.yml')).groups.flatMap((group: any) => group.rules);
const manual = readFileSync(join(packageRoot(), 'src/http/manual/static/monitoring.md'), 'utf8');
const TOKEN = 'token-of-the-metrics';

describe('scripts/monitoring', () => {
  it('has alerts that say what is wrong and what to do, each with its paragraph in the manual', () => {
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).to.equal(names.length);
    for (const { alert, labels, annotations } of rules) {
      expect(labels.severity, alert).to.be.oneOf(['critical', 'warning']);
      expect(annotations.summary, alert).to.match(/^[A-Z0-9{].{10,120}$/);
      expect(annotations.description, alert).to.match(/\.$/);
      expect(annotations.runbook_url, alert).to.equal('{{ $externalLabels.spanhouse_url }}/docs/monitoring');
    }
    const explained = [...manual.matchAll(/^\| `(Spanhouse\w+)` \|/gm)].map(([, name]) => name);
    expect(manual, 'Markdown knows a table by the blank line before it').to.match(/\n\n\| alert/);
    expect(explained.sort()).to.deep.equal(names.sort());
  });

  it('names only events that exist', () => {
    const events = new Set([...linesTable().matchAll(/\| `(\w+)` \|/g)].map(([, name]) => name));
    const texts = [...rules.map(({ annotations }) => annotations.description), manual];
    const named = texts.flatMap(
      (text) => text.match(/\b(?:[a-z]+(?:Lost|Failed|Started|Refused|Aside|Full))\b/g) ?? [],
    );
    expect(named).to.include('engineLost');
    for (const name of named) expect([...events]).to.include(name);
  });

  it('has panels side by side, none over another, each with a datasource that can be chosen', () => {
    const taken = new Set<string>();
    for (const { gridPos, title } of board.panels) {
      expect(gridPos.x + gridPos.w, title).to.be.at.most(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x}/${y}`), `${title} at ${x}/${y}`).to.equal(false);
          taken.add(`${x}/${y}`);
        }
    }
    const ids = board.panels.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { title, targets, datasource, fieldConfig, description } of panels) {
      expect(datasource, title).to.deep.equal({ type: 'prometheus', uid: '${datasource}' });
      expect(fieldConfig.defaults.unit, title).to.be.a('string');
      expect(description, title).to.not.equal(undefined);
      expect(
        targets.map(({ refId }) => refId),
        title,
      ).to.deep.equal(['A', 'B', 'C'].slice(0, targets.length));
    }
    expect(board.templating.list.map(({ name }: any) => name)).to.deep.equal(['datasource', 'instance']);
  });

  it('shows every metric of the server', async () => {
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join('\n');
    const rows = manualMetrics();
    expect(rows.length).to.be.greaterThan(40);
    for (const name of rows) expect(queries, name).to.include(name);
  });

  it('provisions Grafana with what lies there', () => {
    const [source] = parse(read('grafana/provisioning/datasources/prometheus.yml')).datasources;
    expect(source).to.include({ type: 'prometheus', url: 'http://prometheus:9090' });
    expect(source.jsonData.timeInterval).to.equal(parse(read('prometheus.yml')).global.scrape_interval);
    const [provider] = parse(read('grafana/provisioning/dashboards/spanhouse.yml')).providers;
    expect(provider).to.deep.include({ type: 'file', options: { path: '/etc/grafana/dashboards' } });
    for (const path of ['alerts.yml', 'alerts.test.yml', 'metrics-token'])
      expect(existsSync(join(MONITORING, path)), path).to.equal(true);
  });
});

describe('Prometheus', function () {
  this.timeout(120_000);
  let bench: JudgeBench;
  let prometheus: Prometheus;

  before(async function () {
    if (!hasPrometheus()) return this.skip();
    bench = await JudgeBench.boot({ METRICS_TOKEN: TOKEN, METRICS_PROJECT_SERIES: '10' });
    bench.endpoint.reset(() => answer(passing));
    prometheus = await Prometheus.start({ target: new URL(bench.server.url).host, token: TOKEN });
  });
  after(async () => {
    await prometheus?.stop();
    await bench?.dispose();
  });

  it('takes the shipped files, whose tests pass', () => {
    for (const args of [
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ]) {
      const { ok, text } = promtool(args);
      expect(ok, text).to.equal(true);
      expect(text).to.include('SUCCESS');
    }
  });

  it('finds nothing to complain of in the metrics', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { text } = await bench.server.request('GET', '/metrics', { key: null, headers });
    expect(promtool(['check', 'metrics'], { input: text })).to.deep.equal({ ok: true, text: '' });
  });

  it('draws every panel of the dashboard from a server at work, and fires nothing', async () => {
    await bench.make({ name: 'Polite' });
    const empty = async () => {
      await workOnce(bench);
      return emptyPanels(prometheus);
    };
    await eventually(empty, (titles) => titles.every((title) => MAY_BE_EMPTY.has(title)), 60_000);
    const loaded = await prometheus.rules();
    expect(loaded).to.have.lengthOf(rules.length);
    for (const { name, health, lastError, state } of loaded) {
      expect({ health, lastError }, name).to.deep.equal({ health: 'ok', lastError: undefined });
      expect(state, name).to.not.equal('firing');
    }
  });
});

/** Panels of what does not happen to this server, besides those that are made for metrics that no row shows. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set([
  'Age of the last backup',
  'Deletions',
  'Lists refused',
  'Free disk space',
  'Share of the disk in use',
  'gRPC calls, by code',
  ...titlesBelow('Monitors'),
  ...titlesBelow('More'),
]);

/** Titles of the panels of a row. */
function titlesBelow(row: string): string[] {
  const { panels: all } = board;
  const first = all.findIndex(({ type, title }) => type === 'row' && title === row) + 1;
  const last = all.findIndex(({ type }, index) => type === 'row' && index >= first);
  return all.slice(first, last === -1 ? undefined : last).map(({ title }) => title);
}

/** Evaluates every query of every panel. @returns the titles of those of which one says nothing */
async function emptyPanels(prometheus: Prometheus): Promise<string[]> {
  const empty = new Set<string>();
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      const query = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s');
      const samples = await prometheus.query(query);
      if (samples.every(({ value }) => value[1] === 'NaN')) empty.add(title);
    }
  return [...empty];
}

/** Metrics that the manual lists. */
function manualMetrics(): string[] {
  return [...metricsTable(createMetrics()).matchAll(/^\| `((?:spanhouse|http|rpc)_\w+)` \|/gm)].map(
    ([, name]) => name as string,
  );
}

/** Some of everything that clients do. */
async function workOnce({ server, api }: JudgeBench): Promise<void> {
  const span = { trace_id: randomUUID(), name: 'answer', kind: 'llm', started_at: '2026-01-15T10:00:00Z', cost: 0.25 };
  const attributes = { model: 'gpt-4o', inputTokens: 2, outputTokens: 1 };
  await server.request('POST', '/spans', { body: [{ ...span, input_data: 'q', output_data: 'a', attributes }] });
  await server.request('POST', '/spans', { body: [{ ...span, trace_id: 'none' }] });
  await api.call('GET', '/nothing');
  for (const list of ['spans', 'traces', 'sessions']) await server.request('GET', `/${list}`);
}
