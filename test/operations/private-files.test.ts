import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { images } from '../attachments/images.js';
import { removeDirectory } from '../harness/fresh-directory.js';
import { Program } from '../harness/program.js';

describe('what the server keeps', () => {
  let parent: string;
  let program: Program | undefined;

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'spanhouse-private-'));
  });
  afterEach(async () => {
    await program?.destroy();
    await removeDirectory(parent);
  });

  it('is this user’s alone, whatever the umask it is started with', async () => {
    const before = process.umask(0o022);
    const dataDir = join(parent, 'data');
    try {
      program = Program.spawn(dataDir);
    } finally {
      process.umask(before);
    }
    await program.ready();
    const attachments = [{ base64: images.png.toString('base64') }];
    const span = { trace_id: '0199a1b2-0000-7000-8000-00000000000a', name: 'private', started_at: 1_700_000_000 };
    const posted = await program.request('POST', '/spans', [{ ...span, attributes: { attachments } }]);
    expect(posted.status).to.equal(200);
    expect(await program.request('GET', '/traces')).to.have.property('status', 200);

    const open: string[] = [];
    for (const path of [dataDir, ...(await readdir(dataDir, { recursive: true })).map((name) => join(dataDir, name))]) {
      // Merges remove files meanwhile.
      const found = await stat(path).catch(() => null);
      if (found !== null && (found.mode & 0o077) !== 0) open.push(`${path} ${(found.mode & 0o777).toString(8)}`);
    }
    expect(open).to.deep.equal([]);
  });
});
