import { stringify } from 'yaml';
import type { Alert, Series } from './alert.js';

/** Where people read on, below the address that prometheus.yml names. */
const RUNBOOK = '{{ $externalLabels.spanhouse_url }}/docs/monitoring';
const TEST_URL = 'https://spans.example';
const INSTANCE = 'spanhouse:4318';

/** alerts.yml: the rules for Prometheus. */
export function alertRules(alerts: readonly Alert[]): string {
  const rules = alerts.map(({ name, query, severity, summary, description, for: wait }) => ({
    alert: name,
    expr: query,
    ...(wait === '0m' ? {} : { for: wait }),
    labels: { severity },
    annotations: { summary, description, runbook_url: RUNBOOK },
  }));
  return yaml(`Alert rules. The server's manual describes each of them in "Monitor the server".`, {
    groups: [{ name: 'spanhouse', rules }],
  });
}

/** alerts.test.yml: for each rule, that it fires when it should, not before its time, and not when all is well. */
export function alertTests(alerts: readonly Alert[]): string {
  const shared = { interval: '1m', external_labels: { spanhouse_url: TEST_URL } };
  const tests = alerts.flatMap((alert) => {
    const { name, test } = alert;
    const case_ = (state: string, series: Series, at: readonly [time: string, fires: boolean][]) => ({
      name: `${name}, ${state}`,
      ...shared,
      input_series: Object.entries(series).map(([given, values]) => ({ series: given, values })),
      alert_rule_test: at.map(([eval_time, fires]) => ({
        eval_time,
        alertname: name,
        exp_alerts: fires ? [firing(alert)] : [],
      })),
    });
    return [
      ...[test.ill].flat().map((series: Series) =>
        case_('ill', series, [
          ['0m', false],
          [test.at, true],
        ]),
      ),
      ...[test.well].flat().map((series: Series) => case_('well', series, [[test.at, false]])),
    ];
  });
  return yaml('Tests of the rules: promtool test rules alerts.test.yml', {
    rule_files: ['alerts.yml'],
    evaluation_interval: '1m',
    tests,
  });
}

/** The alerts as a Markdown table. */
export function alertTable(alerts: readonly Alert[]): string {
  const rows = alerts.map(
    ({ name, severity, means, description }) => `| \`${name}\` | ${severity} | ${means} | ${description} |`,
  );
  return ['| alert | severity | means | what to do |', '|---|---|---|---|', ...rows].join('\n');
}

function firing({ severity, summary, description, test }: Alert) {
  const labels: Readonly<Record<string, string>> = { instance: INSTANCE, ...test.labels };
  const shown = (text: string) =>
    text
      .replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '')
      .replace(/\{\{ \$value[^}]*\}\}/g, test.value ?? '');
  return {
    exp_labels: { severity, ...labels },
    exp_annotations: {
      summary: shown(summary),
      description: shown(description),
      runbook_url: RUNBOOK.replace('{{ $externalLabels.spanhouse_url }}', TEST_URL),
    },
  };
}

function yaml(about: string, content: unknown): string {
  return `# Written by \`npm run generate\` (scripts/generate/monitoring).\n# ${about}\n${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
