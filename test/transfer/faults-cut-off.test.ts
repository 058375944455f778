import { appendFile } from 'node:fs/promises';
import { expect } from 'chai';
import { exportProject } from '../../scripts/transfer/export.js';
import { importProject } from '../../scripts/transfer/import.js';
import { Remote } from '../../scripts/transfer/remote.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, exported, fill, imported, inFolder, quiet, recordsOf, remoteOf } from './moved-project.js';

/** A server that is gone after so many calls. */
class Failing extends Remote {
  left: number;

  constructor({ url, key }: TestServer, left: number) {
    super(url, key);
    this.left = left;
  }

  override get<T>(path: string): Promise<T> {
    return this.#counted(() => super.get<T>(path));
  }

  override post<T>(path: string, body: string): Promise<T> {
    return this.#counted(() => super.post<T>(path, body));
  }

  async #counted<T>(call: () => Promise<T>): Promise<T> {
    if (this.left === 0) throw new Error('cut off');
    this.left -= 1;
    return call();
  }
}

/** Whether it was cut off. */
const cutOff = (work: Promise<unknown>) =>
  work.then(
    () => false,
    (error: unknown) => {
      expect((error as Error).message).to.equal('cut off');
      return true;
    },
  );

describe('an export or import that is cut off', function () {
  this.timeout(120_000);
  let source: TestServer;
  let target: TestServer;
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget()];
    await fill(source);
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  for (const ending of ['ndjson', 'ndjson.gz'])
    it(`goes on, after whichever call, as ${ending}`, () =>
      inFolder(async (file) => {
        await exported(source, file(`whole.${ending}`));
        const whole = await recordsOf(file(`whole.${ending}`));
        let tries = 0;
        // Each try comes as far as one more call than the one before, and leaves half a page behind.
        for (; tries < 100; tries += 1) {
          const remote = new Failing(source, 4 + (tries % 12));
          if (!(await cutOff(exportProject(remote, source.projectId, file(`parts.${ending}`), quiet)))) break;
          await appendFile(file(`parts.${ending}.part`), '{"part":"spa');
        }
        expect(tries).to.be.within(4, 99);
        expect(await recordsOf(file(`parts.${ending}`))).to.deep.equal(whole);
      }));

  it('is imported once, however often it begins again', () =>
    inFolder(async (file) => {
      await exported(source, file('whole.ndjson'));
      let tries = 0;
      for (; tries < 100; tries += 1)
        if (
          !(await cutOff(importProject(new Failing(target, 2 + (tries % 6)), undefined, file('whole.ndjson'), quiet)))
        )
          break;
      expect(tries).to.be.within(3, 99);
      const { parts, figures } = await importProject(remoteOf(target), target.projectId, file('whole.ndjson'), quiet);
      expect(parts.filter(({ stored }) => stored > 0)).to.deep.equal([]);
      expect(figures?.filter((figure) => !figure.same)).to.deep.equal([]);
      await exported(target, file('back.ndjson'));
      expect(await recordsOf(file('back.ndjson'))).to.deep.equal(await recordsOf(file('whole.ndjson')));
    }));

  it('has what was written while it ran', () =>
    inFolder(async (file) => {
      const span = (name: string) => ({ trace_id: crypto.randomUUID(), name, started_at: '2026-01-01T00:00:00Z' });
      class Written extends Remote {
        calls = 0;

        override async get<T>(path: string): Promise<T> {
          if ((this.calls += 1) === 12) await source.request('POST', '/spans', { body: [span('late')] });
          if (path.includes('/export/attachments') && this.calls < 100)
            await source.request('POST', '/spans', { body: [span('later')] });
          return super.get<T>(path);
        }
      }
      const end = await exportProject(
        new Written(source.url, source.key),
        source.projectId,
        file('while.ndjson'),
        quiet,
      );
      // Every look at the images was followed by another span: the last ones are not compared.
      const records = (await recordsOf(file('while.ndjson'))).join('\n');
      expect(records).to.include('"name":"late"').and.include('"name":"later"');
      expect(end.figures).to.equal(null);
    }));

  it('has what was posted anew while it ran, and nothing else was written', () =>
    inFolder(async (file) => {
      const id = crypto.randomUUID();
      const post = async (path: string, name: string) => {
        const body = {
          id,
          name,
          project_id: source.projectId,
          ...(path === '/traces' && { session_id: id, started_at: '2026-01-01T00:00:00Z' }),
        };
        const { status, text } = await source.request('POST', path, { body: [body] });
        expect(status, text).to.equal(200);
      };
      for (const path of ['/traces', '/sessions']) await post(path, 'first');
      let again = true;
      class Posted extends Remote {
        override async get<T>(path: string): Promise<T> {
          if (again && path.includes('/export/attachments')) {
            again = false;
            for (const list of ['/traces', '/sessions']) await post(list, 'second');
          }
          return super.get<T>(path);
        }
      }
      const end = await exportProject(
        new Posted(source.url, source.key),
        source.projectId,
        file('posted.ndjson'),
        quiet,
      );
      expect(end.figures).not.to.equal(null);
      const { figures } = await imported(target, file('posted.ndjson'));
      expect(figures?.filter((figure) => !figure.same)).to.deep.equal([]);
      for (const list of ['/traces', '/sessions']) {
        const there = await target.request('GET', `${list}/${id}`);
        expect(there.json, list).to.include({ id, name: 'second' });
      }
    }));
});
