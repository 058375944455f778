import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pack } from './npm-pack.js';

/** Most of an installed package is the engine. */
const MAX_PACKED_BYTES = 2_100_000;

// It is installed and started in faults-packed.test.ts.
describe('the package that `npm pack` makes', function () {
  this.timeout(120_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-packed-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('holds the compiled program, the schema and the pages, and neither sources nor tests', async () => {
    const packed = await pack(folder);
    const paths = packed.files.map(({ path }) => path);
    expect(paths).to.include.members([
      'dist/src/main.js',
      'schema/clickhouse/0001_spans_and_rollups.sql',
      'schema/sqlite/0001_identity.sql',
      'dist/src/features/review/pages/static/review.css',
      'LICENSE',
    ]);
    expect(paths.filter((path) => /\.ts$|\.map$|^dist\/(test|bench)|^(test|bench)\//.test(path))).to.deep.equal([]);
    expect(packed.size).to.be.below(MAX_PACKED_BYTES);
  });
});
