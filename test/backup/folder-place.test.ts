import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FolderPlace } from '../../src/features/backup/store/folder-place.js';

describe('a folder of backups', () => {
  it('rejects a file that is removed before it is copied, and keeps the process running', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'spanhouse-place-'));
    try {
      const place = new FolderPlace(folder);
      await place.clear();
      const removed = Array.from({ length: 100 }, () => place.put(join(folder, 'removed'), ({ sha256 }) => sha256));
      for (const put of await Promise.allSettled(removed)) expect(put).to.include({ status: 'rejected' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
