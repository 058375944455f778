import { readFileSync } from 'node:fs';
import { pageAssets, TOKENS, type PageAssets } from '../../pages/assets.js';
import type { Chapter } from '../chapters.js';
import { searchIndex } from '../search-index.js';

const FOLDER = new URL('static/', import.meta.url);
/** One after another: what is narrow or printed overrides the rest. */
const STYLES = ['base.css', 'bar.css', 'columns.css', 'text.css', 'parts.css', 'narrow.css'];
const SCRIPT = 'text/javascript; charset=utf-8';

/** Styles and scripts of the manual, and what its search looks through. */
export function manualAssets(chapters: readonly Chapter[]): PageAssets {
  const own = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');
  const styles = [readFileSync(TOKENS, 'utf8'), ...STYLES.map(own)].join('\n');
  const files = [
    { name: 'manual.css', contentType: 'text/css; charset=utf-8', content: styles },
    { name: 'manual.js', contentType: SCRIPT, content: own('manual.js') },
    { name: 'theme.js', contentType: SCRIPT, content: own('theme.js') },
    {
      name: 'search.json',
      contentType: 'application/json; charset=utf-8',
      content: { source: JSON.stringify(chapters), make: () => JSON.stringify(searchIndex(chapters)) },
    },
  ];
  return pageAssets(files, { path: '/docs', what: 'the manual', tag: 'Operations' });
}
