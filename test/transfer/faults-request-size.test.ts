import { expect } from 'chai';
import { uuid } from '../harness/checked-api.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, exported, imported, inFolder } from './moved-project.js';

describe('an import into a server that takes small requests', function () {
  this.timeout(60_000);
  let source: TestServer;
  let target: TestServer;
  before(async () => {
    [source, target] = [await bootServer(), await bootTarget({ env: { MAX_BODY_MB: '1' } })];
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  const span = (number: number, input_data: unknown) => ({
    ...{ id: uuid(number), trace_id: uuid(number), name: 'large', started_at: '2026-01-31T10:00:00Z', input_data },
  });
  const post = async (spans: readonly object[]) => {
    const { status, text } = await source.request('POST', '/spans', { body: spans });
    expect(status, text.slice(0, 300)).to.equal(200);
  };

  it('sends smaller ones', () =>
    inFolder(async (file) => {
      await post([1, 2, 3, 4, 5].map((number) => span(number, 'x'.repeat(600_000))));
      await exported(source, file('p.ndjson'));
      const { parts } = await imported(target, file('p.ndjson'));
      expect(parts).to.deep.equal([{ part: 'spans', inFile: 5, stored: 5, unchanged: 0 }]);
    }));

  it('says which record is too large, and what to do', () =>
    inFolder(async (file) => {
      // Of quotes alone: twice as large once they are escaped.
      await post([span(6, [`"`.repeat(300_000)])]);
      await exported(source, file('p.ndjson'));
      const failed = await imported(target, file('p.ndjson')).catch((error: unknown) => error);
      expect((failed as Error).message).to.match(
        /^line \d+ \(spans\) is larger than the server accepts: .*MAX_BODY_MB/,
      );
      const { dataDir } = target;
      await target.stop();
      target = await bootTarget({ dataDir });
      const { parts } = await imported(target, file('p.ndjson'));
      expect(parts).to.deep.equal([{ part: 'spans', inFile: 6, stored: 1, unchanged: 5 }]);
    }));
});
