import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSnapshot } from '../../src/control/control-client.js';
import { mountSmallDisk } from '../durability/small-disk.js';
import { API_KEY } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { bootServer } from '../harness/server.js';
import { until } from '../harness/until.js';
import { admin, refused } from './admin.js';

const span = (parts: object = {}) => ({
  id: randomUUID(),
  trace_id: randomUUID(),
  name: 'needle',
  started_at: Date.now(),
  cost: 0.5,
  ...parts,
});

describe('backups that are cut off', function () {
  this.timeout(180_000);
  let folder: string;
  let programs: Programs;
  const shadow = () => join(programs.dataDir, 'clickhouse', 'shadow');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-cut-'));
    programs = await Programs.make();
  });
  afterEach(async () => {
    await programs.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  /** A server with enough to copy to fill what is left of a disk. */
  async function started() {
    const program = await programs.start();
    for (let at = 0; at < 4; at += 1) {
      const large = Array.from({ length: 4 }, () => span({ output_data: randomBytes(1_000_000).toString('base64') }));
      expect((await program.request('POST', '/spans', large)).status).to.equal(200);
    }
    return program;
  }

  async function expectRestorable(backups: string, spans: number): Promise<void> {
    const dataDir = join(folder, 'restored');
    expect(await admin(dataDir, 'restore', backups)).to.include({ spans });
    const copy = await bootServer({ dataDir });
    try {
      const { json, headers } = await copy.request('GET', '/spans?count=true', { key: API_KEY });
      expect(Number(headers.get('x-total-count'))).to.equal(spans);
      expect(json).to.have.length(spans);
    } finally {
      await copy.stop();
    }
  }

  it('by the death of the server are none, and its next start clears what it held', async () => {
    const program = await started();
    const held = await openSnapshot({
      dataDir: programs.dataDir,
      socketPath: join(programs.dataDir, 'control.sock'),
    });
    expect(await readdir(shadow())).to.include('backup');
    const second = refused(programs.dataDir, 'backup', join(folder, 'backups'));
    expect(await second).to.contain('Another backup is in progress');
    program.signal('SIGKILL');
    await program.ended;
    await until('the end is known', () => {
      try {
        held.requireHeld();
        return false;
      } catch {
        return true;
      }
    });
    expect(await readdir(shadow())).to.include('backup');
    await programs.start();
    expect(existsSync(shadow())).to.equal(false);
    expect(existsSync(join(programs.dataDir, 'snapshot'))).to.equal(false);
    expect((await admin(programs.dataDir, 'backup', join(folder, 'backups'))).spans).to.equal(16);
  });

  it('of a full disk say so, let go of everything, and go on when there is room', async function () {
    const path = join(folder, 'small');
    const disk = mountSmallDisk(path, 64);
    if (disk === null) return this.skip();
    try {
      await started();
      const backups = join(path, 'backups');
      disk.fill();
      expect(await refused(programs.dataDir, 'backup', backups)).to.contain('is full');
      disk.free();
      await admin(programs.dataDir, 'backup', backups);
      disk.fill();
      expect(await refused(programs.dataDir, 'backup', backups)).to.contain('Free some space');
      await until('the server lets go', () => !existsSync(shadow()));
      disk.free();
      await expectRestorable(backups, 16);
    } finally {
      disk.free();
      disk.unmount();
    }
  });
});
