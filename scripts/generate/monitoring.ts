import { format, resolveConfig } from 'prettier';
import { metricDefinitions, type MetricDefinition } from '../../src/engine/signals/documentation.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import { alertRules, alertTable, alertTests } from './monitoring/alert-files.js';
import { dashboard, remainder } from './monitoring/dashboard.js';
import { metricsOf, namedMetrics, type Metrics } from './monitoring/metric-names.js';
import { JUDGE_ALERTS } from './monitoring/judge-alerts.js';
import { ROWS, type Panel, type Row } from './monitoring/panels.js';
import { SERVER_ALERTS } from './monitoring/server-alerts.js';
import { UPKEEP_ALERTS } from './monitoring/upkeep-alerts.js';

const FOLDER = 'scripts/monitoring';
/** Metrics of any program, of which the dashboard shows a few. */
const OF_ANY_PROGRAM = /^(nodejs|process)_/;

/** What names metrics: files of `scripts/monitoring` by their path, and the alerts for the manual. */
export interface Monitoring {
  readonly files: ReadonlyMap<string, string>;
  /** A table in Markdown. */
  readonly alerts: string;
}

/** @throws Error when a query names a metric that does not exist */
export async function monitoring(): Promise<Monitoring> {
  const definitions = metricDefinitions(createMetrics());
  const metrics = namedMetrics(definitions);
  const alerts = [...SERVER_ALERTS, ...JUDGE_ALERTS, ...UPKEEP_ALERTS].filter(({ query }) => hasPart(query, metrics));
  for (const { query } of alerts) metricsOf(query, metrics);
  const rows = ROWS.map((row) => knownPanels(row, metrics)).filter(({ panels }) => panels.length > 0);
  const shown = new Set(rows.flatMap((row) => row.panels).flatMap((panel) => metricsIn(panel, metrics)));
  const others = definitions.filter((metric) => !shown.has(metric) && !OF_ANY_PROGRAM.test(metric.name));
  const board = dashboard([...rows, remainder(others)], (panel) => meaning(metricsIn(panel, metrics)));
  const files = new Map([
    [`${FOLDER}/alerts.yml`, await formatted('alerts.yml', alertRules(alerts))],
    [`${FOLDER}/alerts.test.yml`, await formatted('alerts.test.yml', alertTests(alerts))],
    [`${FOLDER}/grafana/dashboards/spanhouse.json`, `${JSON.stringify(board, null, 2)}\n`],
  ]);
  return { files, alerts: alertTable(alerts) };
}

/** Parts that a build may lack as a whole: what would watch them is left out then. */
const PART = /\bspanhouse_(?:disk|backup|retention)_/;

function hasPart(query: string, metrics: Metrics): boolean {
  const [part] = PART.exec(query) ?? [];
  return part === undefined || [...metrics.keys()].some((name) => name.startsWith(part));
}

function knownPanels({ title, panels }: Row, metrics: Metrics): Row {
  return { title, panels: panels.filter(({ questions }) => questions.every(({ query }) => hasPart(query, metrics))) };
}

function metricsIn({ questions }: Panel, metrics: Metrics): MetricDefinition[] {
  return [...new Set(questions.flatMap(({ query }) => metricsOf(query, metrics)))];
}

function meaning(metrics: readonly MetricDefinition[]): string {
  return metrics.map(({ name, help }) => `${name}: ${help}`).join('\n\n');
}

async function formatted(name: string, text: string): Promise<string> {
  const filepath = `${FOLDER}/${name}`;
  return format(text, { ...(await resolveConfig('package.json')), filepath });
}
