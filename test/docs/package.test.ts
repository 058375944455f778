import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Locked {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')) as unknown;
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Locked>> };

const { scripts } = read('package.json') as { scripts: Readonly<Record<string, string>> };

describe('package.json', () => {
  it('replaces the shell in scripts of ours, so that a signal to npm reaches the program', () => {
    const ours = Object.entries(scripts).filter(([, command]) => command.includes('node scripts/'));
    expect(ours.map(([name]) => name)).to.include.members(['start', 'test']);
    for (const [name, command] of ours) expect(command, name).to.match(/^exec node /);
  });
});

describe('package-lock.json', () => {
  it('holds the engine for every platform, or `npm ci` refuses to install on all of them', () => {
    const wanted = packages['node_modules/chdb']?.optionalDependencies ?? {};
    expect(Object.keys(wanted)).to.include('@chdb/lib-linux-x64-gnu');
    for (const [name, version] of Object.entries(wanted)) {
      expect(packages[`node_modules/${name}`]?.version, name).to.equal(version);
    }
  });
});
