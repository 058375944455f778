import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ImageReference } from '../../src/engine/traces/model/attachments.js';
import type { AttachmentStore } from '../../src/features/images/attachment-store.js';
import type { AttachmentCatalog } from '../../src/features/images/catalog.js';
import { NO_SOURCE, VaultIntake } from '../../src/features/images/intake.js';
import { AttachmentVault, AWAITED_MS } from '../../src/features/images/vault.js';
import { mediaIdOf } from '../../src/engine/traces/model/media-reference.js';
import { DomainError } from '../../src/engine/errors.js';
import { SpanIngest } from '../../src/features/traces/span-ingest.js';
import type { WriteLog } from '../../src/engine/traces/model/write-log.js';
import { FileAttachmentStore } from '../../src/features/images/store/file-store.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { SqliteAttachmentCatalog } from '../../src/features/images/store/attachment-catalog.js';
import { openDatabase, type Database } from '../../src/engine/metadata/database.js';
import { migrate } from '../../src/engine/metadata/migrations.js';
import { type OpenedStore, openStore, remove } from '../harness/trace-store.js';
import { NO_PROMPTS } from '../harness/span.js';
import { png, sha } from './images.js';
import { UnknownNames } from '../../src/engine/validation/unknown-names.js';

const silent = {
  attachmentStored: () => undefined,
  attachmentServed: () => undefined,
  attachmentsRemoved: () => undefined,
  attachmentSweepFailed: () => undefined,
  attachmentNotFetched: () => undefined,
  spansAccepted: () => undefined,
  modelsCounted: () => undefined,
  spansRejected: () => undefined,
};

const minimal = () => ({ minimal: true, mayRead: true, unknown: new UnknownNames() });

describe('cleaning up attachments', () => {
  const project = randomUUID();
  let folder: string;
  let spans: OpenedStore;
  let database: Database;
  let files: FileAttachmentStore;
  let vault: AttachmentVault;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'spanhouse-cleanup-'));
    database = openDatabase(join(folder, 'test.sqlite'));
    migrate(database, readMigrationFiles(schemaDirectory('sqlite')));
    files = await FileAttachmentStore.open(join(folder, 'attachments'));
    spans = await openStore({ onPurged: (versions) => void vault.forget(versions) });
    vault = newVault();
  });
  after(async () => {
    await spans.dispose();
    database.close();
    await rm(folder, { recursive: true });
  });

  /** As after a restart: what is under way elsewhere is not known to it. */
  function newVault(store: AttachmentStore = files): AttachmentVault {
    return new AttachmentVault({ store, catalog: new SqliteAttachmentCatalog(database), observer: silent });
  }

  function ingest(parts: { log?: WriteLog; vault?: AttachmentVault } = {}): SpanIngest {
    return new SpanIngest({
      masker: () => null,
      log: parts.log ?? spans.store.log,
      price: () => null,
      prompts: NO_PROMPTS,
      maxTagBytes: 65_536,
      attachments: new VaultIntake(parts.vault ?? vault, NO_SOURCE),
      scores: { definitions: { find: () => undefined, count: () => 0 }, keep: () => undefined },
      observer: silent,
    });
  }

  const traceId = randomUUID();
  function span(id: string, ...images: Buffer[]) {
    const attachments = images.map((bytes) => ({ base64: bytes.toString('base64') }));
    return { id, trace_id: traceId, name: 's', started_at: '2026-01-01T00:00:00Z', attributes: { attachments } };
  }

  const logOf = (append: WriteLog['append'], admit: WriteLog['admit'] = () => undefined): WriteLog => ({
    admit,
    append,
  });

  const post = (service: SpanIngest, ...list: object[]) => service.postSpans(project, list, minimal());

  function announce(catalog: AttachmentCatalog, reference: ImageReference, agoMs = 0, room: object = {}): boolean {
    const since = (Date.now() - AWAITED_MS) * 1000;
    const most = { open: 100, waiting: 100, since, ...room };
    return catalog.announce(project, reference, (Date.now() - agoMs) * 1000, most);
  }

  async function sweep(): Promise<void> {
    await spans.store.purge();
    await vault.sweep(spans.store.attachments.findVersions);
  }

  async function isThere(bytes: Buffer): Promise<boolean> {
    const content = await files.get(project, sha(bytes));
    content?.stream.destroy();
    expect(content !== null, 'catalog and store agree').to.equal(vault.find(project, sha(bytes)) !== undefined);
    return content !== null;
  }

  it('removes an image with the last span that names it, and no earlier', async () => {
    const [image, other] = [png(10), png(10)];
    const [one, two] = [randomUUID(), randomUUID()];
    await post(ingest(), span(one, image, other), span(two, image));
    await sweep();
    expect(await remove(spans.store, project, 'span', one)).to.equal(true);
    await sweep();
    expect([await isThere(image), await isThere(other)]).to.deep.equal([true, false]);
    await remove(spans.store, project, 'span', two);
    await sweep();
    expect(await isThere(image)).to.equal(false);
  });

  it('removes the images of a replaced version, but for those that the new one names too', async () => {
    const [kept, dropped, added] = [png(10), png(10), png(10)];
    const id = randomUUID();
    await post(ingest(), span(id, kept, dropped));
    await post(ingest(), span(id, added, kept));
    await spans.store.attachments.read(project, { spanId: id, traceId: null });
    await sweep();
    expect([await isThere(kept), await isThere(dropped), await isThere(added)]).to.deep.equal([true, false, true]);
  });

  it('keeps an image that is only named by its hash by now', async () => {
    const image = png(10);
    const id = randomUUID();
    await post(ingest(), span(id, image));
    await post(ingest(), { ...span(id), attributes: { attachments: [{ sha256: sha(image) }] } });
    await spans.store.attachments.read(project, { spanId: id, traceId: null });
    await sweep();
    expect(await isThere(image)).to.equal(true);
  });

  it('keeps an announced image for the span that comes later, and not for ever', async () => {
    const catalog = new SqliteAttachmentCatalog(database);
    const [awaited, overdue, deleted] = [png(10), png(10), png(10)];
    const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
    for (const [image, span_id, agoMs] of [
      [awaited, one, 1_000],
      [overdue, two, AWAITED_MS + 1_000],
      [deleted, three, 1_000],
    ] as const) {
      const reference = { sha256: sha(image), trace_id: traceId, span_id };
      expect(announce(catalog, reference, agoMs)).to.equal(true);
      expect(announce(catalog, reference, agoMs), 'again').to.equal(true);
      catalog.note(project, { sha256: sha(image), media_type: 'image/png', bytes: image.length });
      await vault.keep(project, [{ sha256: sha(image), type: 'image/png', bytes: image }]);
    }
    const fourth = { sha256: sha(png(10)), trace_id: traceId, span_id: randomUUID() };
    expect(announce(catalog, fourth, 0, { waiting: 3 }), 'too many').to.equal(false);
    await vault.removeSomeFree(project, vault.forgetSpans(project, [three], Date.now() * 1000));
    await sweep();
    expect(await Promise.all([awaited, overdue, deleted].map(isThere))).to.deep.equal([true, false, false]);
    const reference = `@@@langfuseMedia:type=image/png|id=${mediaIdOf(sha(awaited))}|source=bytes@@@`;
    await post(ingest(), { ...span(one), input_data: reference });
    await sweep();
    expect(catalog.unbound(0, 10), 'every reference has its version').to.deep.equal([]);
    await remove(spans.store, project, 'span', one);
    await sweep();
    expect(await isThere(awaited)).to.equal(false);
  });

  it('keeps an announcement that is renewed while a sweep looks for its span', async () => {
    const catalog = new SqliteAttachmentCatalog(database);
    const image = png(10);
    const reference = { sha256: sha(image), trace_id: traceId, span_id: randomUUID() };
    expect(announce(catalog, reference, AWAITED_MS + 1_000)).to.equal(true);
    catalog.note(project, { sha256: sha(image), media_type: 'image/png', bytes: image.length });
    await vault.keep(project, [{ sha256: sha(image), type: 'image/png', bytes: image }]);
    await vault.sweep(async () => {
      announce(catalog, reference);
      return new Map();
    });
    expect(await isThere(image)).to.equal(true);
    announce(catalog, reference, AWAITED_MS + 1_000);
    await sweep();
    expect(await isThere(image)).to.equal(false);
  });

  it('counts, of announced images, those that have neither come nor are overdue', () => {
    const catalog = new SqliteAttachmentCatalog(database);
    const next = () => ({ sha256: sha(png(10)), trace_id: traceId, span_id: randomUUID() });
    const [come, overdue, open] = [next(), next(), next()];
    for (const [reference, agoMs] of [
      [come, 0],
      [overdue, AWAITED_MS + 1_000],
      [open, 0],
    ] as const)
      // prettier-ignore
      expect(announce(catalog, reference, agoMs, { open: 2 })).to.equal(true);
    expect(announce(catalog, next(), 0, { open: 2 }), 'two are open').to.equal(false);
    catalog.note(project, { sha256: come.sha256, media_type: 'image/png', bytes: 10 });
    catalog.markStored(project, [come.sha256]);
    expect(announce(catalog, next(), 0, { open: 2 }), 'one is open').to.equal(true);
    expect(announce(catalog, next(), 0, { open: 2 }), 'two are open again').to.equal(false);
    vault.forgetSpans(
      project,
      catalog.unbound(0, 10).map(({ span_id }) => span_id),
      Date.now() * 1000,
    );
  });

  it('keeps an announced image that comes when the first version of its span is gone', async () => {
    const catalog = new SqliteAttachmentCatalog(database);
    const image = png(10);
    const id = randomUUID();
    const reference = `@@@langfuseMedia:type=image/png|id=${mediaIdOf(sha(image))}|source=bytes@@@`;
    expect(announce(catalog, { sha256: sha(image), trace_id: traceId, span_id: id })).to.equal(true);
    await post(ingest(), { ...span(id), input_data: reference });
    await sweep();
    await post(ingest(), { ...span(id), input_data: `${reference} changed` });
    await sweep();
    expect(catalog.isNamed({ project_id: project, sha256: sha(image) })).to.equal(true);
    catalog.note(project, { sha256: sha(image), media_type: 'image/png', bytes: image.length });
    await vault.keep(project, [{ sha256: sha(image), type: 'image/png', bytes: image }]);
    await sweep();
    expect(catalog.unbound(0, 10)).to.deep.equal([]);
    expect(await isThere(image)).to.equal(true);
    await remove(spans.store, project, 'span', id);
    await sweep();
    expect(await isThere(image)).to.equal(false);
  });

  it('removes the image of a request that failed, and leaves those under way alone', async () => {
    const [failed, underWay] = [png(10), png(10)];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const failing = logOf(() => Promise.reject(new DomainError('overloaded', 'full')));
    const slow = logOf(async (writes) => {
      await released;
      return spans.store.log.append(writes);
    });
    const failure = await post(ingest({ log: failing }), span(randomUUID(), failed)).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError);
    const posting = post(ingest({ log: slow }), span(randomUUID(), underWay));
    while (vault.find(project, sha(underWay)) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    await sweep();
    expect([await isThere(failed), await isThere(underWay)]).to.deep.equal([false, true]);
    release();
    await posting;
    await sweep();
    expect(await isThere(underWay)).to.equal(true);
  });

  it('stores no image of a request that is known to be refused', async () => {
    const image = png(10);
    const refusing = logOf(spans.store.log.append.bind(spans.store.log), () => {
      throw new DomainError('overloaded', 'full');
    });
    const failure = await post(ingest({ log: refusing }), span(randomUUID(), image)).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError).and.include({ kind: 'overloaded' });
    expect(await files.get(project, sha(image))).to.equal(null);
  });

  it('finds out after a crash which spans got stored', async () => {
    const [stored, lost] = [png(10), png(10)];
    const id = randomUUID();
    // A process that dies after the commit, or before it, and so never writes which version names the image.
    const dying = (append: WriteLog['append']) =>
      logOf(async (writes) => {
        await append(writes);
        return new Promise(() => undefined);
      });
    const before = newVault();
    void post(ingest({ vault: before, log: dying((writes) => spans.store.log.append(writes)) }), span(id, stored));
    void post(
      ingest({ vault: before, log: dying(() => Promise.resolve({ createdAt: [] })) }),
      span(randomUUID(), lost),
    );
    while ((await spans.store.attachments.read(project, { spanId: id, traceId: null })).length === 0)
      await new Promise((r) => setTimeout(r, 20));
    while (vault.find(project, sha(lost)) === undefined) await new Promise((r) => setTimeout(r, 5));
    await sweep();
    expect([await isThere(stored), await isThere(lost)]).to.deep.equal([true, false]);
    await remove(spans.store, project, 'span', id);
    await sweep();
    expect(await isThere(stored)).to.equal(false);
  });

  it('never removes an image that is sent again meanwhile', async () => {
    const failing = logOf(() => Promise.reject(new DomainError('overloaded', 'full')));
    for (let round = 0; round < 30; round += 1) {
      const image = png(20);
      await post(ingest({ log: failing }), span(randomUUID(), image)).catch(() => undefined);
      const sendAgain = async () => {
        for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        await post(ingest(), span(randomUUID(), image));
      };
      await Promise.all([vault.sweep(spans.store.attachments.findVersions), sendAgain()]);
      expect(await isThere(image), `round ${round}`).to.equal(true);
      await vault.sweep(spans.store.attachments.findVersions);
      expect(await isThere(image), `round ${round}, later`).to.equal(true);
    }
  });

  it('stores again what was sent while its removal was under way', async () => {
    const image = png(20);
    const id = randomUUID();
    let removing = (): void => undefined;
    let goOn = (): void => undefined;
    const reached = new Promise<void>((resolve) => (removing = resolve));
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const slow: AttachmentStore = {
      put: (...image) => files.put(image[0], image[1], image[2]),
      get: (...name) => files.get(...name),
      async remove(...name) {
        removing();
        await gate;
        await files.remove(...name);
      },
    };
    const careful = newVault(slow);
    await post(ingest({ vault: careful }), span(id, image));
    await remove(spans.store, project, 'span', id);
    await spans.store.purge();
    const sweeping = careful.sweep(spans.store.attachments.findVersions);
    // A sweep that fails before is a failed test, not one that hangs.
    await Promise.race([reached, sweeping]);
    const posting = post(ingest({ vault: careful }), span(randomUUID(), image));
    await new Promise((resolve) => setTimeout(resolve, 50));
    goOn();
    await Promise.all([sweeping, posting]);
    expect(await isThere(image)).to.equal(true);
    await careful.sweep(spans.store.attachments.findVersions);
    expect(await isThere(image)).to.equal(true);
  });

  it('keeps what it cannot remove now for the next sweep', async () => {
    const image = png(10);
    const id = randomUUID();
    await post(ingest(), span(id, image));
    await remove(spans.store, project, 'span', id);
    await spans.store.purge();
    const down = newVault({
      put: (...given) => files.put(given[0], given[1], given[2]),
      get: (...name) => files.get(...name),
      remove: () => Promise.reject(new DomainError('unavailable', 'down')),
    });
    const failure = await down.sweep(spans.store.attachments.findVersions).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError);
    await sweep();
    expect(await isThere(image)).to.equal(false);
  });

  it('goes on past a project that cannot be read now, which waits for the next sweep', async () => {
    const [busy, other] = [randomUUID(), randomUUID()];
    const [waiting, lost, kept] = [png(10), png(10), png(10)];
    const keptSpan = randomUUID();
    const before = newVault();
    // Requests that a crash cut off: before the commit, and after it.
    const cutOff = (projectId: string, body: object, append: WriteLog['append']) =>
      ingest({ vault: before, log: logOf((writes) => append(writes).then(() => new Promise(() => undefined))) })
        .postSpans(projectId, [body], minimal())
        .catch(() => undefined);
    const nothing = () => Promise.resolve({ createdAt: [] });
    void cutOff(busy, span(randomUUID(), waiting), nothing);
    void cutOff(other, span(randomUUID(), lost), nothing);
    void cutOff(other, span(keptSpan, kept), (writes) => spans.store.log.append(writes));
    while ((await spans.store.attachments.read(other, { spanId: keptSpan, traceId: null })).length === 0)
      await new Promise((r) => setTimeout(r, 20));
    const found = (projectId: string, image: Buffer) => vault.find(projectId, sha(image)) !== undefined;
    while (!found(busy, waiting) || !found(other, lost)) await new Promise((r) => setTimeout(r, 5));

    const asked: string[] = [];
    const failure = await vault
      .sweep((projectId, references) => {
        asked.push(projectId);
        if (projectId === busy) return Promise.reject(new DomainError('overloaded', 'busy'));
        return spans.store.attachments.findVersions(projectId, references);
      })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError).and.include({ kind: 'overloaded' });
    expect(asked, 'one statement for each project').to.have.members([busy, other]);
    expect([found(busy, waiting), found(other, lost), found(other, kept)]).to.deep.equal([true, false, true]);
    await sweep();
    expect(found(busy, waiting)).to.equal(false);
    expect(await remove(spans.store, other, 'span', keptSpan)).to.equal(true);
    await sweep();
    expect(found(other, kept), 'its reference is bound to the version that was found').to.equal(false);
  });
});
