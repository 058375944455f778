import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { importProject, type ImportResult } from '../../scripts/transfer/import.js';
import { Remote } from '../../scripts/transfer/remote.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, exported, fill, imported, inFolder, quiet, remoteOf } from './moved-project.js';

/** A server that is gone after so many requests with records. */
class Failing extends Remote {
  #left: number;

  constructor({ url, key }: TestServer, left: number) {
    super(url, key);
    this.#left = left;
  }

  override get<T>(path: string): Promise<T> {
    return this.#left === 0 && path.includes(':stats') ? Promise.reject(new Error('cut off')) : super.get<T>(path);
  }

  override post<T>(path: string, body: string): Promise<T> {
    if (this.#left === 0) return Promise.reject(new Error('cut off'));
    this.#left -= 1;
    return super.post<T>(path, body);
  }
}

describe('an import that was cut off', function () {
  this.timeout(120_000);
  const targets: TestServer[] = [];
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-export-'));
    const source = await bootServer();
    await fill(source);
    await exported(source, join(folder, 'p.ndjson'));
    await source.dispose();
  });
  afterEach(async () => {
    for (const target of targets.splice(0)) await target.dispose();
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** The file, with no notes beside it. */
  const withExport = (work: (file: string) => Promise<void>) =>
    inFolder(async (file) => {
      await cp(join(folder, 'p.ndjson'), file('p.ndjson'));
      await work(file('p.ndjson'));
    });

  async function target(options: Parameters<typeof bootTarget>[0] = {}): Promise<TestServer> {
    const booted = await bootTarget(options);
    targets.push(booted);
    return booted;
  }

  const cutOff = async (server: TestServer, file: string, requests: number) => {
    const failed = await importProject(new Failing(server, requests), undefined, file, quiet).catch(
      (error: unknown) => error,
    );
    expect((failed as Error).message).to.equal('cut off');
  };
  /** Everything is there, and no record is said to have been before. */
  const isWhole = ({ parts, figures }: ImportResult) => {
    for (const { part, inFile, stored } of parts) expect(stored, part).to.equal(inFile);
    expect(figures?.filter((figure) => !figure.same)).to.deep.equal([]);
  };

  it('goes on where it was, with one request that was sent before', () =>
    withExport(async (file) => {
      const here = await target();
      await cutOff(here, file, 12);
      const asked: string[] = [];
      class Noting extends Remote {
        override post<T>(path: string, body: string): Promise<T> {
          asked.push(path.split('/').at(-1) ?? '');
          return super.post<T>(path, body);
        }
      }
      isWhole(await importProject(new Noting(here.url, here.key), undefined, file, quiet));
      expect(asked.slice(0, 3)).to.deep.equal(['experiments', 'experiment_scorers', 'experiment_metrics']);
    }));

  it('begins anew with another server that has a project of the same id', () =>
    withExport(async (file) => {
      await cutOff(await target(), file, 11);
      isWhole(await imported(await target(), file));
    }));

  it('begins anew where all was deleted since', () =>
    withExport(async (file) => {
      const before = await target();
      await cutOff(before, file, 11);
      targets.pop();
      await before.dispose();
      isWhole(await imported(await target({ env: { PORT: String(before.port) } }), file));
    }));

  for (const [what, requests] of [
    ['prompts', 2],
    ['images', 13],
  ] as const)
    it(`begins anew where an earlier state was restored since, cut off after ${what}`, () =>
      withExport(async (file) => {
        const { dataDir, port, ...fresh } = await target();
        await fresh.stop();
        const copy = await mkdtemp(join(tmpdir(), 'spanhouse-copy-'));
        try {
          await cp(dataDir, copy, { recursive: true });
          const env = { PORT: String(port) };
          const then = await target({ dataDir, env });
          await cutOff(then, file, requests);
          await then.dispose();
          targets.length = 0;
          await cp(copy, dataDir, { recursive: true });
          isWhole(await importProject(remoteOf(await target({ dataDir, env })), undefined, file, quiet));
        } finally {
          await rm(copy, { recursive: true, force: true });
        }
      }));
});
