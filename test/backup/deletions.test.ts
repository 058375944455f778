import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSnapshot } from '../../src/control/control-client.js';
import { Backups } from '../../src/features/backup/store/backups.js';
import { FolderPlace } from '../../src/features/backup/store/folder-place.js';
import { copySnapshot } from '../../src/features/backup/store/copy-snapshot.js';
import { png } from '../attachments/images.js';
import { bootServer } from '../harness/server.js';
import { admin } from './admin.js';
import { answersOf } from './answers.js';

const options = { total: () => undefined, done: () => undefined, beforeFinish: async () => undefined };

describe('a backup', () => {
  it('holds what is deleted, with its images, while it is copied', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-held-'));
    const server = await bootServer();
    const image = png(9);
    const attachments = [{ type: 'screenshot', base64: image.toString('base64') }];
    const span = { trace_id: randomUUID(), name: 'needle', started_at: Date.now(), attributes: { attachments } };
    try {
      const posted = await server.request('POST', '/spans', {
        body: [span, { ...span, id: randomUUID(), name: 'other' }],
      });
      expect(posted.status, posted.text).to.equal(200);
      const expected = await answersOf(server);
      const held = await openSnapshot({
        dataDir: server.dataDir,
        socketPath: join(server.dataDir, 'control.sock'),
      });
      expect((await server.request('DELETE', `/traces/${span.trace_id}`)).status).to.equal(204);
      expect((await server.request('GET', '/spans')).json).to.deep.equal([]);
      const images = join(server.dataDir, 'attachments');
      const files = await readdir(images, { recursive: true, withFileTypes: true });
      expect(files.filter((entry) => entry.isFile()).map(({ parentPath }) => parentPath)).to.have.length(1);
      expect(files.find((entry) => entry.isFile())?.parentPath).to.contain('removed');

      const backups = await Backups.forWriting(new FolderPlace(join(folder, 'backups')));
      const { lostImages, manifest } = await copySnapshot(held.snapshot, backups, options);
      await backups.close();
      held.release();
      expect(lostImages).to.equal(0);
      expect(manifest.images).to.have.length(1);
      while ((await readdir(images)).includes('removed')) await new Promise((wake) => setTimeout(wake, 10));

      const dataDir = join(folder, 'restored');
      await admin(dataDir, 'restore', backups.place.address);
      const copy = await bootServer({ dataDir });
      try {
        expect(await answersOf(copy)).to.deep.equal(expected);
        const [{ id }] = (await copy.request('GET', '/spans?names=other')).json;
        const [{ url }] = (await copy.request('GET', `/spans/${id}/attachments`)).json.attachments;
        const shown = await fetch(url.replace(/^https?:\/\/[^/]+/, copy.url));
        expect(Buffer.from(await shown.arrayBuffer()).equals(image)).to.equal(true);
      } finally {
        await copy.stop();
      }
    } finally {
      await server.dispose();
      await rm(folder, { recursive: true, force: true });
    }
  }).timeout(60_000);
});
