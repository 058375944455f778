import type { AnnouncedRoom, AttachmentCatalog, OpenReference, ReferencedImage } from '../catalog.js';
import { hashBeginning, mediaIdOf } from '../../../engine/traces/model/media-reference.js';
import type { ImageReference } from '../../../engine/traces/model/attachments.js';
import type { KeptImage } from '../extraction.js';
import type { Micros } from '../../../engine/timestamp.js';
import { prepareAttachmentSql, type AttachmentSql } from './attachment-statements.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';

/** References of a deleted project that are forgotten together. */
const FORGOTTEN_AT_ONCE = 1_000;

/** Which images there are and what names them, in the SQLite file. */
export class SqliteAttachmentCatalog implements AttachmentCatalog {
  readonly #db: Database;
  readonly #statements: AttachmentSql;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepareAttachmentSql(db);
  }

  kept(projectId: string) {
    return guarded(() => this.#statements.kept.get(projectId) ?? { count: 0, bytes: 0 });
  }

  allBytes() {
    return guarded(() => this.#statements.allBytes.get() ?? 0);
  }

  find(projectId: string, sha256: string): KeptImage | undefined {
    return guarded(() => this.#statements.find.get({ project_id: projectId, sha256 }));
  }

  findMedia(projectId: string, mediaId: string): KeptImage | undefined {
    const beginning = hashBeginning(mediaId);
    if (beginning === null) return undefined;
    const found = guarded(() => this.#statements.beginningWith.all({ project_id: projectId, beginning }));
    return found.find(({ sha256 }) => mediaIdOf(sha256) === mediaId);
  }

  findNamed(projectId: string, mediaId: string): string | undefined {
    const beginning = hashBeginning(mediaId);
    if (beginning === null) return undefined;
    const found = guarded(() => this.#statements.namedWith.all({ project_id: projectId, beginning }));
    return found.find((sha256) => mediaIdOf(sha256) === mediaId);
  }

  announce(projectId: string, { sha256, trace_id, span_id }: ImageReference, at: Micros, room: AnnouncedRoom): boolean {
    const announced = { project_id: projectId, sha256, trace_id, span_id, at };
    return this.#transaction(
      () =>
        this.#statements.announceAgain.run(announced).changes > 0 ||
        this.#statements.announce.run({ ...announced, ...room }).changes > 0,
    );
  }

  isOfDataset({ project_id, sha256 }: ReferencedImage, datasetId: string): boolean {
    return guarded(() => this.#statements.isOfDataset.get({ project_id, sha256, datasetId }) === 1);
  }

  isNamed(image: ReferencedImage): boolean {
    return guarded(() => this.#statements.isNamed.get(image) === 1);
  }

  note(projectId: string, image: KeptImage): void {
    guarded(() => this.#statements.note.run({ ...image, project_id: projectId }));
  }

  announcedAt(projectId: string, sha256: string): Micros | null {
    return guarded(() => this.#statements.announcedAt.get({ project_id: projectId, sha256 })) ?? null;
  }

  name(projectId: string, references: readonly (ImageReference & { readonly image: KeptImage })[]): number[] {
    return this.#transaction(() =>
      references.map(({ image, sha256, trace_id, span_id }) => {
        this.#statements.note.run({ ...image, project_id: projectId });
        const { lastInsertRowid } = this.#statements.name.run({ project_id: projectId, sha256, trace_id, span_id });
        return Number(lastInsertRowid);
      }),
    );
  }

  markStored(projectId: string, sha256s: readonly string[]): boolean {
    return this.#transaction(() => {
      let unknown = false;
      for (const sha256 of sha256s) {
        const image = { project_id: projectId, sha256 };
        this.#statements.arrive.run(image);
        if (this.#statements.markStored.run({ ...image, stored: 1 }).changes > 0) continue;
        this.#statements.leaveOver.run(image);
        unknown = true;
      }
      return unknown;
    });
  }

  markMissing(projectId: string, sha256: string): void {
    guarded(() => this.#statements.markStored.run({ project_id: projectId, sha256, stored: 0 }));
  }

  bind(bindings: readonly { readonly id: number; readonly version: Micros }[]): void {
    this.#transaction(() => {
      for (const { id, version } of bindings) this.#statements.bind.run({ id, version });
    });
  }

  forget(versions: readonly Micros[]): number {
    return this.#unname(this.#statements.forget, versions).length;
  }

  forgetSpans(projectId: string, spanIds: readonly string[], upTo: Micros, orderedAt: Micros): ReadonlySet<string> {
    const spans = JSON.stringify(spanIds);
    const freed = this.#leaveOver(() => this.#statements.forgetSpans.all({ projectId, spans, upTo, orderedAt }));
    return new Set(freed.map(({ sha256 }) => sha256));
  }

  forgetSomeOfProject(projectId: string): number {
    return this.#leaveOver(() => this.#statements.forgetSomeOfProject.all(projectId, FORGOTTEN_AT_ONCE)).length;
  }

  unbound(after: number, limit: number): OpenReference[] {
    return guarded(() => this.#statements.unbound.all(after, limit));
  }

  drop(ids: readonly number[]): void {
    this.#unname(this.#statements.drop, ids);
  }

  dropAsRead(references: readonly OpenReference[]): void {
    if (references.length === 0) return;
    const read = references.map(({ id, announced_at }) => ({ id, announced_at }));
    this.#leaveOver(() => this.#statements.dropAsRead.all(JSON.stringify(read)));
  }

  doubt(images: readonly ReferencedImage[]): void {
    this.#transaction(() => {
      for (const image of images) this.#statements.leaveOver.run(image);
    });
  }

  leftovers(after: ReferencedImage, limit: number): ReferencedImage[] {
    return guarded(() => this.#statements.leftovers.all({ ...after, limit }));
  }

  beginRemoval(image: ReferencedImage): boolean {
    return this.#transaction(() => {
      if (this.#statements.isNamed.get(image) === 1) {
        this.#statements.noLeftover.run(image);
        return false;
      }
      this.#statements.markStored.run({ ...image, stored: 0 });
      return true;
    });
  }

  endRemoval(image: ReferencedImage): void {
    this.#transaction(() => {
      this.#statements.remove.run(image);
      this.#statements.noLeftover.run(image);
    });
  }

  #unname(statement: AttachmentSql['forget'], numbers: readonly number[]): ReferencedImage[] {
    if (numbers.length === 0) return [];
    return this.#leaveOver(() => statement.all(JSON.stringify(numbers)));
  }

  #leaveOver(unname: () => ReferencedImage[]): ReferencedImage[] {
    return this.#transaction(() => {
      const freed = unname();
      for (const image of freed) {
        this.#statements.leaveOver.run(image);
        this.#statements.hide.run(image);
      }
      return freed;
    });
  }

  #transaction<T>(work: () => T): T {
    return transact(this.#db, work);
  }
}
