import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../src/engine/files/schema-files.js';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe('scripts/node.mjs', () => {
  let home: string;
  let registry: Server;
  /** What the registry of the test answers for a package's archive. */
  let archive: Buffer | null = null;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'spanhouse-home-'));
    registry = createServer((request, response) => {
      const name = (request.url ?? '').split('/')[1] ?? '';
      if (request.url?.endsWith('.tgz') === true && archive !== null) response.end(archive);
      else if (archive !== null) response.end(JSON.stringify(manifest(name)));
      else request.socket.destroy();
    });
    registry.listen(0, '127.0.0.1');
    await once(registry, 'listening');
  });

  afterEach(async () => {
    archive = null;
    registry.closeAllConnections();
    registry.close();
    await rm(home, { recursive: true, force: true });
  });

  const address = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const manifest = (name: string) => {
    const versions = ['22.23.2', '22.23.3', '24.18.1', '24.21.0', '26.10.0', '26.12.0'].map((version) => [
      version,
      { name, version, dist: { tarball: `${address()}/${name}/-/${name}.tgz` } },
    ]);
    return { name, 'dist-tags': {}, versions: Object.fromEntries(versions) as object };
  };

  /** A machine on which nothing was fetched yet, with this registry alone. */
  async function nodeScript(...args: string[]): Promise<Ran> {
    const child = spawn(process.execPath, [join(packageRoot(), 'scripts/node.mjs'), ...args], {
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        XDG_CACHE_HOME: join(home, '.cache'),
        npm_execpath: process.env['npm_execpath'],
        npm_config_cache: join(home, '.npm'),
        npm_config_registry: address(),
        // npm asks once more, and would wait ten seconds before that.
        npm_config_fetch_retry_mintimeout: '10',
      },
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  it('names the Node.js at hand when that is new enough, and fetches nothing', async () => {
    expect(await nodeScript()).to.deep.equal({ code: 0, stdout: `${process.execPath}\n`, stderr: '' });
  });

  it('says in one line what to do when the registry cannot be reached', async () => {
    const { code, stdout, stderr } = await nodeScript('24');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    const [fetching, outcome, ...more] = stderr.trim().split('\n');
    expect(fetching).to.match(/^spanhouse: fetching Node\.js 2\d\.\d+\.\d+ from the npm registry/);
    expect(outcome).to.match(
      /^spanhouse: could not fetch another \(.+\)\. Install Node\.js 22\.13\.0 or newer: https:/,
    );
    expect(more).to.deep.equal([]);
  });

  it('refuses an archive whose hash is not the one that is pinned, and keeps nothing of it', async () => {
    archive = Buffer.from('not what Node.js was published as');
    const { code, stdout, stderr } = await nodeScript('24');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('EINTEGRITY');
    expect(readdirSync(join(home, '.cache/spanhouse'))).to.deep.equal([]);
  });

  it('says which versions there are not', async () => {
    const { code, stderr } = await nodeScript('8');
    expect(code).to.equal(1);
    expect(stderr).to.match(/No Node\.js 8 available for \S+/);
  });
});

describe('the Node.js that is new enough', () => {
  it('is what package.json says, and nothing older', async () => {
    const releases = new URL('../../../scripts/node-releases.mjs', import.meta.url).href;
    const { suffices } = (await import(releases)) as { suffices: (version: string) => boolean };
    const answers = ['18.20.8', '20.20.2', '22.12.0', '22.13.0', '22.23.3', '24.0.0', '26.10.0', '100.0.0'].map(
      suffices,
    );
    expect(answers).to.deep.equal([false, false, false, true, true, true, true, true]);
  });
});
