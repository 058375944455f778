import type { Line } from './signal.js';
import { LINES } from './signals.js';
import type { Metrics } from './metrics.js';

/** Metrics that begin so are those of Node.js and of the process, which any program has. */
const OF_ANY_PROGRAM = /^(nodejs|process)_/;
const LEVELS: readonly Line['level'][] = ['error', 'warn', 'info', 'debug'];

/** Every line of the log as a Markdown table, what needs someone first. */
export function linesTable(): string {
  const rows = LEVELS.flatMap((level) =>
    Object.entries(LINES)
      .filter(([, line]) => line.level === level)
      .map(([name, line]) => `| ${level} | \`${name}\` | ${words(line)} | ${'action' in line ? line.action : ''} |`),
  );
  return ['| level | event | message and cause | what to do |', '|---|---|---|---|', ...rows].join('\n');
}

function words({ message, when }: Line): string {
  return `**${message}**<br>${when}`;
}

/** A metric by what a dashboard, an alert or a reader needs of it. */
export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
}

/** Every metric that the server exposes. */
export function metricDefinitions({ registry }: Pick<Metrics, 'registry'>): MetricDefinition[] {
  // The library's types leave out what its metrics are made of.
  const metrics = registry.getMetricsAsArray() as unknown as (MetricDefinition & {
    readonly labelNames: readonly string[];
  })[];
  return metrics.map(({ name, help, type, labelNames }) => ({ name, help, type, labels: labelNames }));
}

/** Every metric of the server's own as a Markdown table. */
export function metricsTable(metrics: Pick<Metrics, 'registry'>): string {
  const rows = metricDefinitions(metrics)
    .filter(({ name }) => !OF_ANY_PROGRAM.test(name))
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help} |`);
  return ['| metric | type | labels | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** Metrics and lines of the log, for the manual. */
export function monitoringTables(metrics: Pick<Metrics, 'registry'>): string {
  return `## Look up metrics\n\n${metricsTable(metrics)}\n\n## Look up log events\n\n${LINES_INTRODUCTION}\n\n${linesTable()}`;
}

const LINES_INTRODUCTION = `Each line is one event, with its name as \`event\`. Warnings and errors say in \`action\` what to do. With
\`LOG_FORMAT=json\`, a line is a JSON object. \`LOG_LEVEL\` is the lowest level that is written. Changed messages and event names are
listed under "Changed" in [See what changed](changes.md).`;
