import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NODE_FLAGS, NODE_VARIABLES } from '../../scripts/start/node-flags.js';

interface Locked {
  readonly version: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')) as unknown;
const { packages } = read('package-lock.json') as { packages: Readonly<Record<string, Locked>> };

const { scripts, dependencies } = read('package.json') as Readonly<
  Record<'scripts' | 'dependencies', Readonly<Record<string, string>>>
>;

describe('package.json', () => {
  it('replaces the shell in scripts of ours, so that a signal to npm reaches the program', () => {
    expect(Object.keys(scripts)).to.include.members(['start', 'test']);
    for (const [name, command] of Object.entries(scripts))
      expect(command, name).to.match(/ && exec "\$node" (--\S+ )*scripts\//);
  });

  it('bounds what the server keeps of memory, as the installed command does', () => {
    const flags = NODE_FLAGS.join(' ');
    const variables = Object.entries(NODE_VARIABLES)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
    expect(scripts['start']).to.include(`&& export ${variables} && exec "$node" ${flags} scripts/run.mjs`);
    const [shebang] = readFileSync(new URL('../../../scripts/spanhouse.mjs', import.meta.url), 'utf8').split('\n', 1);
    expect(shebang).to.equal(`#!/usr/bin/env -S ${variables} node ${flags}`);
  });

  it('runs every script on a Node.js that is new enough, fetched where the machine has none', () => {
    for (const [name, command] of Object.entries(scripts))
      expect(command, name).to.match(/^node=\$\(node scripts\/node\.mjs\) && /);
  });
});

describe('the ClickHouse client', () => {
  it('is of one version, as its way to a connection of ours may change with any other', () => {
    expect(dependencies['@clickhouse/client']).to.match(/^\d+\.\d+\.\d+$/);
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
