import type { MetricDefinition } from '../../../src/engine/signals/documentation.js';
import type { Panel, Row } from './panels.js';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
/** Grafana's grid is 24 wide. */
const WIDTH = 24;
const LINES = { w: 8, h: 8 };
const SINGLE = { w: 4, h: 4 };

/** What no row shows, each metric by its kind: a new one is on the dashboard before anybody thinks of it. */
export function remainder(metrics: readonly MetricDefinition[]): Row {
  return { title: 'More', panels: metrics.map(panelOf) };
}

function panelOf({ name, type, labels }: MetricDefinition): Panel {
  const title = name.replace(/^spanhouse_/, '').replace(/_total$/, '');
  const by = labels.length === 0 ? 'instance' : labels.join(', ');
  const legend = labels.length === 0 ? '{{instance}}' : labels.map((label) => `{{${label}}}`).join(' ');
  const select = 'instance=~"$instance"';
  if (name.endsWith('_timestamp_seconds')) {
    const query = `time() - max by (${by}) (${name}{${select}} > 0)`;
    return {
      title: `${title.replace('_timestamp_seconds', '')}, how long ago`,
      unit: 's',
      questions: [{ query, legend }],
    };
  }
  if (type === 'histogram') {
    const query = `histogram_quantile(0.95, sum by (${by}, le) (rate(${name}_bucket{${select}}[$__rate_interval])))`;
    return { title, unit: unitOf(name), questions: [{ query, legend: `${legend} p95` }] };
  }
  const query =
    type === 'counter'
      ? `sum by (${by}) (rate(${name}{${select}}[$__rate_interval]))`
      : `max by (${by}) (${name}{${select}})`;
  return { title, unit: unitOf(name), questions: [{ query, legend }] };
}

function unitOf(name: string): string {
  if (/_bytes(_total)?$/.test(name)) return 'bytes';
  return /_seconds$/.test(name) ? 's' : 'short';
}

/** The dashboard as Grafana reads it. @param describe what a panel shows, by what its metrics mean */
export function dashboard(rows: readonly Row[], describe: (panel: Panel) => string): unknown {
  return {
    uid: 'spanhouse',
    title: 'Spanhouse',
    description: 'Written by `npm run generate`: to change it, save it under another name.',
    tags: ['spanhouse'],
    schemaVersion: 38,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: '',
    annotations: { list: [] },
    links: [],
    templating: { list: [datasourceChoice, instanceChoice] },
    panels: placed(rows, describe),
  };
}

const datasourceChoice = {
  name: 'datasource',
  label: 'Prometheus',
  type: 'datasource',
  query: 'prometheus',
  hide: 0,
  refresh: 1,
  multi: false,
  includeAll: false,
  current: {},
  options: [],
};

const instanceChoice = {
  name: 'instance',
  label: 'Instance',
  type: 'query',
  datasource: DATASOURCE,
  definition: 'label_values(spanhouse_engine_up, instance)',
  query: { query: 'label_values(spanhouse_engine_up, instance)', refId: 'instance' },
  hide: 0,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  allValue: '.*',
  current: { selected: true, text: ['All'], value: ['$__all'] },
  options: [],
};

/** Rows below each other, the panels of each from left to right. */
function placed(rows: readonly Row[], describe: (panel: Panel) => string): unknown[] {
  const panels: unknown[] = [];
  let id = 0;
  let y = 0;
  for (const row of rows) {
    panels.push({
      id: ++id,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of row.panels) {
      const { w, h } = panel.single === true ? SINGLE : LINES;
      if (x + w > WIDTH) {
        x = 0;
        y += height;
      }
      panels.push(drawn(panel, { id: ++id, gridPos: { x, y, w, h }, description: describe(panel) }));
      x += w;
      height = h;
    }
    y += height;
  }
  return panels;
}

function drawn(
  { title, unit, questions, single = false, stacked = false }: Panel,
  place: { readonly id: number; readonly gridPos: unknown; readonly description: string },
): unknown {
  const targets = questions.map(({ query, legend }, index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    datasource: DATASOURCE,
    editorMode: 'code',
    expr: query,
    legendFormat: legend,
    range: true,
  }));
  const custom = {
    lineWidth: 1,
    fillOpacity: stacked ? 30 : 5,
    showPoints: 'never',
    stacking: { mode: stacked ? 'normal' : 'none' },
  };
  const options = single
    ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value', graphMode: 'area' }
    : {
        legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      };
  return {
    ...place,
    type: single ? 'stat' : 'timeseries',
    title,
    datasource: DATASOURCE,
    targets,
    fieldConfig: { defaults: { unit, min: 0, ...(single ? {} : { custom }) }, overrides: [] },
    options,
  };
}
