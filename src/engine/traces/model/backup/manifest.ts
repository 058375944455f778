import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { DomainError } from '../../../errors.js';

/** Grows when backups of an earlier program cannot be read the same way anymore. */
export const MANIFEST_FORMAT = 1;

const Count = Type.Integer({ minimum: 0 });
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** A file's place inside the folder that it is restored to: never outside of it, wherever the manifest comes from. */
const Place = Type.String({ pattern: '^(?!\\.)[A-Za-z0-9_.%-]+(/(?!\\.)[A-Za-z0-9_.%-]+)*$', maxLength: 1024 });
const Name = Type.String({ pattern: '^[A-Za-z0-9_]{1,128}$' });
const Project = Type.String({ pattern: '^[0-9a-z-]{1,64}$' });

/** Contents are kept once, by their hash, however many backups hold them. */
const Content = { sha256: Hash, bytes: Count };

const Part = Type.Object({
  name: Name,
  rows: Count,
  files: Type.Array(Type.Object({ place: Place, ...Content })),
});

const Figures = Type.Object({
  project_id: Project,
  spans: Count,
  errors: Count,
  /** Decimals and sums of versions as text: they are longer than a number holds. */
  cost: Type.String(),
  input_tokens: Type.String(),
  output_tokens: Type.String(),
  versions: Type.String(),
});

const Manifest = Type.Object({
  format: Type.Integer(),
  id: Type.String({ pattern: '^[0-9]{8}T[0-9]{6}Z$' }),
  taken_at: Type.String(),
  spanhouse: Type.String(),
  /** The version of the last commit that is in it. */
  up_to: Count,
  migrations: Type.Array(Type.Object({ version: Count, name: Type.String(), checksum: Type.String() })),
  tables: Type.Array(Type.Object({ name: Name, parts: Type.Array(Part) })),
  metadata: Type.Object({ ...Content, rows: Type.Record(Type.String(), Count) }),
  /** Null: they are in a bucket, which is not copied. */
  images: Type.Union([Type.Array(Type.Object({ project_id: Project, ...Content })), Type.Null()]),
  figures: Type.Array(Figures),
});

/** Everything that one backup holds. It is written last: a backup without it was interrupted. */
export type Manifest = Static<typeof Manifest>;
export type PartFiles = Static<typeof Part>;
export type FileContent = PartFiles['files'][number];
/** What a recount of a project's spans gave, to be compared with a recount after a restore. */
export type ProjectFigures = Static<typeof Figures>;

/** @throws DomainError `invalid` when it is none, or of a newer program */
export function readManifest(json: unknown, name: string): Manifest {
  const format = (json as { format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > MANIFEST_FORMAT)
    throw new DomainError(
      'invalid',
      `${name} was created by a newer version of Spanhouse: restore it with that version`,
    );
  if (!Value.Check(Manifest, json)) {
    const first = Value.Errors(Manifest, json).First();
    throw new DomainError('invalid', `${name} is damaged at ${first?.path ?? '/'}: use another backup (list-backups)`);
  }
  return json;
}

/** Every content of a backup, with the place that a message names. */
export function* contentsOf(manifest: Manifest): Generator<{ sha256: string; bytes: number; name: string }> {
  for (const table of manifest.tables)
    for (const part of table.parts)
      for (const { place, ...content } of part.files) yield { ...content, name: `${table.name}/${part.name}/${place}` };
  const { sha256, bytes } = manifest.metadata;
  yield { sha256, bytes, name: 'the SQLite file' };
  for (const image of manifest.images ?? []) yield { ...image, name: `an image of project ${image.project_id}` };
}

/** What a backup amounts to. */
export function sizeOf(manifest: Manifest): { readonly bytes: number; readonly spans: number } {
  let bytes = 0;
  for (const content of contentsOf(manifest)) bytes += content.bytes;
  return { bytes, spans: manifest.figures.reduce((sum, { spans }) => sum + spans, 0) };
}

/** Sentences about projects whose figures differ; none: they are equal. */
export function differences(expected: readonly ProjectFigures[], found: readonly ProjectFigures[]): string[] {
  const others = new Map(found.map((figures) => [figures.project_id, figures]));
  const problems = expected.flatMap((figures) => {
    const other = others.get(figures.project_id);
    others.delete(figures.project_id);
    if (other === undefined) return [`project ${figures.project_id} is missing with ${figures.spans} spans`];
    return Object.entries(figures)
      .filter(([name, value]) => other[name as keyof ProjectFigures] !== value)
      .map(([name, value]) => {
        const is = other[name as keyof ProjectFigures];
        return `project ${figures.project_id}: ${name} is ${is}, was ${value}`;
      });
  });
  for (const { project_id } of others.values()) problems.push(`project ${project_id} was not in the backup`);
  return problems;
}
