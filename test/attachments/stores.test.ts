import { randomUUID } from 'node:crypto';
import { mkdtemp, open, readdir, readlink, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import type { AttachmentStore } from '../../src/features/images/attachment-store.js';
import { DomainError } from '../../src/engine/errors.js';
import { FileAttachmentStore } from '../../src/features/images/store/file-store.js';
import { S3AttachmentStore } from '../../src/features/images/store/s3-store.js';
import { bootServer } from '../harness/server.js';
import { images, png, sha } from './images.js';
import { BUCKET, startS3, type S3Server } from './s3-server.js';

async function read(store: AttachmentStore, project: string, sha256: string): Promise<Buffer | null> {
  const content = await store.get(project, sha256);
  if (content === null) return null;
  const bytes = await buffer(content.stream);
  expect(content.bytes).to.equal(bytes.length);
  return bytes;
}

/** Notes what is synced from now on, which nothing but a loss of power would show. */
async function watchSyncs(): Promise<{ readonly paths: string[]; stop(): void }> {
  const own = await open('/proc/self/exe');
  const prototype = Object.getPrototypeOf(own) as FileHandle;
  await own.close();
  const sync = Object.getOwnPropertyDescriptor(prototype, 'sync') as PropertyDescriptor & {
    value: () => Promise<void>;
  };
  const paths: string[] = [];
  Object.defineProperty(prototype, 'sync', {
    ...sync,
    async value(this: FileHandle) {
      paths.push(await readlink(`/proc/self/fd/${this.fd}`));
      await sync.value.call(this);
    },
  });
  return { paths, stop: () => void Object.defineProperty(prototype, 'sync', sync) };
}

/** What every attachment store guarantees. */
function contract(open: () => AttachmentStore): void {
  const project = randomUUID();

  it('gives back byte for byte what was put', async () => {
    for (const bytes of [images.png, images.gif, png(700)]) {
      await open().put(project, sha(bytes), bytes, 'image/png');
      expect((await read(open(), project, sha(bytes)))?.equals(bytes)).to.equal(true);
    }
  });

  it('takes the same image again, also many times at once', async () => {
    const bytes = png(300);
    await Promise.all(Array.from({ length: 10 }, () => open().put(project, sha(bytes), bytes, 'image/png')));
    await open().put(project, sha(bytes), bytes, 'image/png');
    expect((await read(open(), project, sha(bytes)))?.equals(bytes)).to.equal(true);
  });

  it('removes, and has nothing then; removing again is fine', async () => {
    const bytes = png(10);
    await open().put(project, sha(bytes), bytes, 'image/png');
    await open().remove(project, sha(bytes));
    expect(await read(open(), project, sha(bytes))).to.equal(null);
    await open().remove(project, sha(bytes));
  });

  it('finds nothing under another project', async () => {
    const bytes = png(10);
    await open().put(project, sha(bytes), bytes, 'image/png');
    expect(await read(open(), randomUUID(), sha(bytes))).to.equal(null);
  });

  it('takes no name that could lead elsewhere', async () => {
    for (const [where, name] of [
      ['..', sha(images.png)],
      [project, '../../secret'],
      [project, sha(images.png).toUpperCase()],
    ] as const) {
      const failure = await open()
        .get(where, name)
        .then(
          () => null,
          (error: unknown) => error,
        );
      expect(failure, `${where}/${name}`).to.be.instanceOf(Error);
    }
  });
}

describe('attachment store', () => {
  describe('in files', () => {
    let root: string;
    let store: FileAttachmentStore;

    before(async () => {
      root = join(await mkdtemp(join(tmpdir(), 'spanhouse-attachments-')), 'attachments');
      store = await FileAttachmentStore.open(root);
    });
    after(() => rm(join(root, '..'), { recursive: true }));
    contract(() => store);

    it('removes what a crash left half written, and keeps the rest', async () => {
      const project = randomUUID();
      await store.put(project, sha(images.gif), images.gif);
      await writeFile(join(root, 'incoming', 'half'), 'GIF89');
      const reopened = await FileAttachmentStore.open(root);
      expect(await readdir(join(root, 'incoming'))).to.deep.equal([]);
      expect((await read(reopened, project, sha(images.gif)))?.equals(images.gif)).to.equal(true);
    });

    it('says that it is unavailable when it cannot write', async () => {
      const broken = await FileAttachmentStore.open(join(root, 'broken'));
      await rm(join(root, 'broken'), { recursive: true });
      await writeFile(join(root, 'broken'), 'a file is in the way');
      const failure = await broken.put(randomUUID(), sha(images.gif), images.gif).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
    });
  });

  it('brings a removal in the file system to disk before it counts as done', async function () {
    if (process.platform !== 'linux') this.skip();
    const root = await mkdtemp(join(tmpdir(), 'spanhouse-removed-'));
    const store = await FileAttachmentStore.open(root);
    const project = randomUUID();
    await store.put(project, sha(images.png), images.png);
    const syncs = await watchSyncs();
    try {
      await store.remove(project, sha(images.png));
      expect(syncs.paths).to.deep.equal([join(root, project, sha(images.png).slice(0, 2))]);
    } finally {
      syncs.stop();
      await rm(root, { recursive: true });
    }
  });

  describe('in an S3-compatible bucket', () => {
    let server: S3Server;
    let store: S3AttachmentStore;
    const options = () => ({ bucket: BUCKET, endpoint: server.endpoint, region: 'us-east-1', forcePathStyle: true });

    before(async () => {
      server = await startS3();
      store = new S3AttachmentStore(options());
    });
    after(async () => {
      store.close();
      await server.stop();
    });
    contract(() => store);

    it('says that it is unavailable when the bucket is not there', async () => {
      const elsewhere = new S3AttachmentStore({ ...options(), bucket: 'no-such-bucket' });
      const failure = await elsewhere
        .put(randomUUID(), sha(images.gif), images.gif, 'image/gif')
        .catch((error: unknown) => error);
      elsewhere.close();
      expect(failure).to.be.instanceOf(DomainError).with.property('kind', 'unavailable');
    });

    it('serves a whole server: nothing is left in DATA_DIR', async () => {
      const env = { S3_BUCKET: BUCKET, S3_ENDPOINT: server.endpoint, S3_FORCE_PATH_STYLE: 'true' };
      const spanhouse = await bootServer({ env });
      try {
        const id = randomUUID();
        const attachments = [{ base64: images.webp.toString('base64'), label: 'in the bucket' }];
        const span = { id, trace_id: randomUUID(), name: 'shot', started_at: Date.now(), attributes: { attachments } };
        expect((await spanhouse.request('POST', '/spans', { body: [span] })).status).to.equal(200);
        const listed = await spanhouse.request('GET', `/spans/${id}/attachments`);
        const image = await fetch(listed.json.attachments[0].url);
        expect(image.headers.get('content-type')).to.equal('image/webp');
        expect(Buffer.from(await image.arrayBuffer()).equals(images.webp)).to.equal(true);
        expect(await readdir(spanhouse.dataDir)).to.not.include('attachments');
      } finally {
        await spanhouse.dispose();
      }
    });
  });
});
