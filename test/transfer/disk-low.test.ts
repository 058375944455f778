import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { PARTS, type Part } from '../../src/features/transfer/parts.js';
import { importProject } from '../../scripts/transfer/import.js';
import { Remote } from '../../scripts/transfer/remote.js';
import type { RecordLine } from '../../scripts/transfer/format.js';
import { bootServer, type TestServer } from '../harness/server.js';
import { bootTarget, exported, fill, imported, inFolder, quiet } from './moved-project.js';

/** More than any disk has. */
const FULL = { MIN_FREE_DISK_MB: '1000000000' };

describe('an import to a disk with too little room', function () {
  this.timeout(60_000);
  let source: TestServer;
  let target: TestServer;
  before(async () => {
    source = await bootServer();
    target = await bootTarget({ env: FULL });
    await fill(source);
  });
  after(async () => {
    await source.dispose();
    await target.dispose();
  });

  it('is refused with every part, says why, and goes on when there is room', () =>
    inFolder(async (file) => {
      await exported(source, file('p.ndjson'));
      const lines = (await readFile(file('p.ndjson'), 'utf8')).trimEnd().split('\n').slice(1, -1);
      const records = new Map(
        lines.map((line) => JSON.parse(line) as RecordLine).map(({ part, record }): [Part, unknown] => [part, record]),
      );
      expect([...records.keys()]).to.have.members([...PARTS]);
      for (const [part, record] of records) {
        const path = `/projects/${target.projectId}/import/${part}`;
        const { status, headers, json } = await target.request('POST', path, { body: [record] });
        expect(status, part).to.equal(503);
        expect(Number(headers.get('retry-after')), part).to.be.greaterThan(0);
        expect(json.detail, part).to.match(
          /^Insufficient disk space: the disk of .* MIN_FREE_DISK_MB .* Free some space/,
        );
      }
      const hasty = new Remote(target.url, target.key, 0);
      const failed = await importProject(hasty, undefined, file('p.ndjson'), quiet).catch((error: unknown) => error);
      expect((failed as Error).message).to.match(/was refused with 503: .*MIN_FREE_DISK_MB.*Free some space/);
      const { dataDir } = target;
      await target.stop();
      target = await bootTarget({ dataDir });
      const { parts } = await imported(target, file('p.ndjson'));
      for (const { part, inFile, stored } of parts) expect(stored, part).to.equal(inFile);
    }));
});
