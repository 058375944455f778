import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { configurationTable } from '../../src/config/documentation.js';
import { settingDefinitions } from '../../src/config/settings.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

describe('README', () => {
  it('shows the configuration as it is defined', () => {
    const shown = readme.split('<!-- config:start -->')[1]?.split('<!-- config:end -->')[0]?.trim();
    expect(shown, 'run `npm run generate`').to.equal(configurationTable());
  });

  it('has a row with a meaning for every setting, and no cell that breaks the table', () => {
    const rows = configurationTable().split('\n').slice(2);
    expect(rows).to.have.lengthOf(settingDefinitions.length);
    for (const row of rows) expect(row.split(/(?<!\\)\|/), row).to.have.lengthOf(5);
  });

  it('names only commands that exist', () => {
    const named = [...readme.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name);
    expect(named).to.include.members(['demo', 'bench', 'admin', 'format', 'generate']);
    for (const name of named) expect(scripts, `npm run ${String(name)}`).to.have.property(String(name));
    expect(scripts).to.include.keys('start', 'test');
  });

  it('names only variables that exist', () => {
    const known = new Set<string>([...settingDefinitions.map(([name]) => name), 'SPANHOUSE_KEY']);
    const named = [...readme.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+\b/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).to.deep.equal([]);
  });
});
