import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { AttachmentStore } from '../../src/features/images/attachment-store.js';
import { keptImage } from '../../src/features/images/extraction.js';
import type { Image } from '../../src/features/images/image.js';
import { NO_SOURCE, VaultIntake, type ImageSource } from '../../src/features/images/intake.js';
import { AttachmentVault, REMOVED_WITH_SPANS, type VaultParts } from '../../src/features/images/vault.js';
import { DomainError } from '../../src/engine/errors.js';
import { FileAttachmentStore } from '../../src/features/images/store/file-store.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { SqliteAttachmentCatalog } from '../../src/features/images/store/attachment-catalog.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { unhurried } from '../harness/program.js';
import { storedSpan } from '../harness/span.js';
import { png, sha } from './images.js';

const silent = {
  attachmentStored: () => undefined,
  attachmentsRemoved: () => undefined,
  attachmentSweepFailed: () => undefined,
};

describe('projects that share the keeping of images', () => {
  // In this order, what is done for the small one comes to the other's images next.
  const [small, greedy] = ['0', 'f'].map((digit) => digit.repeat(32)) as [string, string];
  let folder: string;
  let database: Database;
  let files: FileAttachmentStore;
  let catalog: SqliteAttachmentCatalog;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-sharing-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    files = await FileAttachmentStore.open(join(folder, 'attachments'));
    catalog = new SqliteAttachmentCatalog(database);
  });
  afterEach(async () => {
    database.close();
    await rm(folder, { recursive: true });
  });

  function vaultOf(parts: Partial<VaultParts> = {}): AttachmentVault {
    return new AttachmentVault({ store: files, catalog, observer: silent, ...parts });
  }

  /** The files, and what happens before one is written or removed. */
  function storeAfter(work: (projectId: string, sha256: string) => Promise<void>): AttachmentStore {
    return {
      async put(projectId, sha256, bytes) {
        await work(projectId, sha256);
        await files.put(projectId, sha256, bytes);
      },
      get: (...name) => files.get(...name),
      async remove(projectId, sha256) {
        await work(projectId, sha256);
        await files.remove(projectId, sha256);
      },
    };
  }

  const imagesOf = (count: number): Image[] =>
    Array.from({ length: count }, () => {
      const bytes = png(1);
      return { sha256: sha(bytes), type: 'image/png', bytes };
    });
  const nothing = () => Promise.resolve(new Map<number, number>());
  const count = (table: string) => database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get();

  /** Images that are stored, with a reference of one span each. @returns the ids of the spans */
  async function keep(vault: AttachmentVault, projectId: string, images: readonly Image[]): Promise<string[]> {
    const spans = images.map(() => randomUUID());
    const references = images.map((image, index) => ({
      sha256: image.sha256,
      trace_id: randomUUID(),
      span_id: spans[index] ?? '',
      image: keptImage(image),
    }));
    const ids = vault.name(projectId, references);
    await vault.keep(projectId, images);
    const bindings = ids.map((id) => ({ id, version: id }));
    await vault.settle(ids, bindings);
    return spans;
  }

  it('take turns at writing', async () => {
    const vault = vaultOf({ store: storeAfter(() => sleep(10)) });
    let written = false;
    const many = keep(vault, greedy, imagesOf(400)).then(() => (written = true));
    await keep(vault, small, imagesOf(3));
    expect(written).to.equal(false);
    await many;
  });

  it('are refused what would wait too long, and nothing of it is being written any more', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let underWay = 0;
    const store = storeAfter(async (projectId) => {
      if (projectId !== greedy) return;
      underWay += 1;
      await released;
      underWay -= 1;
    });
    const vault = vaultOf({ store, writes: { atOnce: 2, perParty: 1, maxWaitMs: 50 } });
    const hanging = keep(vault, greedy, imagesOf(1));
    const refused = keep(vault, greedy, imagesOf(20));
    await keep(vault, small, imagesOf(1));
    const failure = await refused.catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError).and.include({ kind: 'overloaded' });
    expect(underWay, 'only that of the other request').to.equal(1);
    release();
    await hanging;
  });

  it('name and bind many images in portions, between which others are served', async () => {
    const [image] = imagesOf(1) as [Image];
    const vault = vaultOf();
    await keep(vault, small, [image]);
    const attachments = Array.from({ length: 5 }, () => ({ sha256: image.sha256 }));
    const spans = Array.from({ length: 300 }, () => storedSpan({ attributes: { attachments } }));
    const intake = new VaultIntake(vault, NO_SOURCE, Infinity);
    const inspected = await intake.inspect(spans);
    const detaching = intake.detach(small, inspected);
    expect(count('attachment_namings')).to.equal(501);
    const detached = await detaching;
    expect(count('attachment_namings')).to.equal(1501);
    const bound = 'attachment_namings WHERE version IS NOT NULL';
    const storing = detached.stored(spans.map((_span, index) => 1_000 + index));
    expect(count(bound)).to.equal(501);
    await storing;
    expect(count(bound)).to.equal(1501);
  });

  it('have images looked for in portions, between which others are served', async () => {
    const items = (count: number) => Array.from({ length: count }, () => ({ base64: 'aaaa' }));
    const one = [storedSpan({ output_data: JSON.stringify(items(4_000)) })];
    const many = Array.from({ length: 1_000 }, () => storedSpan({ output_data: JSON.stringify(items(4)) }));
    const intake = new VaultIntake(vaultOf(), NO_SOURCE);
    for (const spans of [one, many]) {
      let done = false;
      const inspecting = intake.inspect(spans).then(() => (done = true));
      let turns = 0;
      for (; !done; turns += 1) await nextTurn();
      expect(turns).to.be.greaterThan(40);
      await inspecting;
    }
  });

  it('fetch in turns, and wait for no host that may not be asked', async () => {
    let release = (): void => undefined;
    const released = new Promise<null>((resolve) => (release = () => resolve(null)));
    const [image] = imagesOf(1) as [Image];
    const source: ImageSource = {
      mayFetch: (url) => !url.includes('unlisted'),
      fetch: (url) => (url.includes('hanging') ? released : Promise.resolve(image)),
    };
    const intake = new VaultIntake(vaultOf(), source);
    const detach = async (projectId: string, spans: number, url: string) => {
      const attachments = Array.from({ length: 5 }, () => ({ url }));
      const inspected = await intake.inspect(
        Array.from({ length: spans }, () => storedSpan({ attributes: { attachments } })),
      );
      return intake.detach(projectId, inspected);
    };
    const hanging = detach(greedy, 10, 'https://hanging.example/');
    await nextTurn();
    const { spans } = await detach(small, 1, 'https://fast.example/');
    expect(JSON.stringify(spans)).to.include(image.sha256);
    const started = performance.now();
    await detach(greedy, 200, 'https://unlisted.example/');
    expect(performance.now() - started).to.be.lessThan(unhurried(5_000));
    release();
    await hanging;
  });

  it('remove what their own spans freed, without waiting for others; the rest follows', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let free = 0;
    let hangs = false;
    const store = storeAfter(async (projectId) => {
      if (hangs && projectId === greedy) await released;
    });
    const vault = vaultOf({ store, onFree: () => (free += 1) });
    const [theirs, mine, many] = [imagesOf(30), imagesOf(3), imagesOf(REMOVED_WITH_SPANS)];
    const lost = await keep(vault, greedy, theirs);
    const deleted = await keep(vault, small, mine);
    vault.forgetSpans(greedy, lost, 1e9);
    hangs = true;
    await vault.removeSomeFree(small, vault.forgetSpans(small, deleted, 1e9));
    for (const { sha256 } of mine) expect(await files.get(small, sha256)).to.equal(null);
    expect(free).to.equal(0);

    const more = await keep(vault, small, [...many, ...imagesOf(20)]);
    const freed = [...vault.forgetSpans(small, more, 1e9)];
    expect(freed.filter((sha256) => vault.find(small, sha256) !== undefined)).to.deep.equal([]);
    await vault.removeSomeFree(small, new Set(freed.slice(0, REMOVED_WITH_SPANS)));
    expect(count('attachment_leftovers')).to.equal(30 + 20);
    expect(free, 'the sweeper is told').to.equal(1);
    release();
    await vault.sweep(nothing);
    expect(count('attachments')).to.equal(0);
  });

  it('lose no time to an image that cannot be removed', async () => {
    const images = imagesOf(250);
    let stuck = true;
    const [first] = images.map(({ sha256 }) => sha256).sort();
    const store = storeAfter(async (_project, sha256) => {
      if (removing && stuck && sha256 === first) throw new DomainError('unavailable', 'locked');
    });
    let removing = false;
    const vault = vaultOf({ store });
    const spans = await keep(vault, greedy, images);
    vault.forgetSpans(greedy, spans, 1e9);
    removing = true;
    const failure = await vault.sweep(nothing).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError).and.include({ kind: 'unavailable' });
    expect(database.prepare('SELECT sha256 FROM attachments').pluck().all()).to.deep.equal([first]);
    stuck = false;
    await vault.sweep(nothing);
    expect(count('attachments')).to.equal(0);
  });

  it('lose what is still being written for a project when that is deleted', async () => {
    const [image] = imagesOf(1) as [Image];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let free = 0;
    const vault = vaultOf({ store: storeAfter(() => released), onFree: () => (free += 1) });
    const keeping = keep(vault, small, [image]);
    // By a process that knows nothing of what this one is at, or before the image's turn has come.
    const deleting = vaultOf();
    while (deleting.forgetSomeOfProject(small));
    await deleting.removeFreeOfProject(small, new AbortController().signal);
    release();
    await keeping;
    expect(free, 'the sweeper is told').to.equal(1);
    await vault.sweep(nothing);
    expect(await files.get(small, image.sha256)).to.equal(null);
    expect(count('attachment_leftovers')).to.equal(0);
  });
});
