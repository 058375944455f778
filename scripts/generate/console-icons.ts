import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

type Shape = readonly [element: string, attributes: Readonly<Record<string, string>>];

/** Icons of the console: our name for what it means → lucide's for what it shows. */
const ICONS: Readonly<Record<string, string>> = {
  overview: 'layout-dashboard',
  traces: 'list-tree',
  spans: 'rows-3',
  sessions: 'messages-square',
  users: 'users',
  prompts: 'file-text',
  judges: 'scale',
  experiments: 'beaker',
  comparisons: 'git-compare-arrows',
  monitors: 'bell',
  dashboards: 'chart-column',
  views: 'bookmark',
  review: 'clipboard-check',
  links: 'link',
  audit: 'scroll-text',
  settings: 'settings-2',
  playground: 'flask-conical',
  first: 'rocket',
  search: 'search',
  filter: 'list-filter',
  clock: 'clock',
  live: 'radio',
  pause: 'pause',
  play: 'play',
  copy: 'copy',
  check: 'check',
  close: 'x',
  plus: 'plus',
  minus: 'minus',
  trash: 'trash',
  edit: 'pencil',
  pin: 'pin',
  tag: 'tag',
  download: 'download',
  external: 'external-link',
  more: 'ellipsis',
  menu: 'menu',
  theme: 'sun-moon',
  keyboard: 'keyboard',
  help: 'circle-question-mark',
  info: 'info',
  warning: 'triangle-alert',
  error: 'octagon-alert',
  running: 'circle-dashed',
  up: 'chevron-up',
  down: 'chevron-down',
  left: 'chevron-left',
  right: 'chevron-right',
  'sort-up': 'arrow-up',
  'sort-down': 'arrow-down',
  columns: 'columns-3',
  refresh: 'refresh-cw',
  terminal: 'terminal',
  key: 'key-round',
  user: 'user',
  'sign-out': 'log-out',
  'thumbs-up': 'thumbs-up',
  'thumbs-down': 'thumbs-down',
  disk: 'hard-drive',
  price: 'circle-dollar-sign',
  score: 'star',
  diff: 'diff',
  'zoom-in': 'zoom-in',
  'zoom-out': 'zoom-out',
  expand: 'unfold-vertical',
  collapse: 'fold-vertical',
  panel: 'panel-right',
  model: 'sparkles',
  tool: 'wrench',
  agent: 'bot',
  retrieval: 'book-open',
  http: 'globe',
  database: 'database',
  speech: 'audio-lines',
  other: 'circle',
};

/** The file that the console takes its icons from: lucide has thousands of them, and 34 MB. */
export async function consoleIcons(): Promise<string> {
  const folder = join(createRequire(import.meta.url).resolve('lucide'), '../../esm/icons');
  const shapes: string[] = [];
  for (const [name, source] of Object.entries(ICONS)) {
    const { default: icon } = (await import(join(folder, `${source}.mjs`))) as { default: readonly Shape[] };
    shapes.push(`  ${/-/.test(name) ? `'${name}'` : name}: [${icon.map(shape).join(', ')}],`);
  }
  const { version } = JSON.parse(readFileSync(join(folder, '../../../package.json'), 'utf8')) as { version: string };
  return `/**
 * Written by \`npm run generate\` (scripts/generate/console-icons.ts): shapes of lucide ${version}, ISC license, on a grid of 24.
 */
// prettier-ignore
export const SHAPES = {
${shapes.join('\n')}
} as const satisfies Record<string, readonly (readonly [element: string, attributes: Readonly<Record<string, string>>])[]>;
`;
}

function shape([element, attributes]: Shape): string {
  const entries = Object.entries(attributes).filter(([name]) => name !== 'key');
  return `['${element}', { ${entries.map(([name, value]) => `${name}: '${value}'`).join(', ')} }]`;
}
