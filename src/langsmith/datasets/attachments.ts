import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { assertValid, compile } from '../../engine/validation/validation.js';
import { KEPT_KINDS, mediaOf, type Media } from '../../features/images/media.js';
import type { RowFiles } from '../../features/images/row-files.js';
import { asObject } from '../../facade/json.js';
import type { FormPart } from '../../http/form-data.js';

/* Files of examples: the column `attachments` of a row names them, and clients read them by presigned URLs. */

type Json = Readonly<Record<string, unknown>>;
type Attached = Readonly<Record<string, Readonly<{ sha256: string; media_type: string; bytes: number }>>>;

export const COLUMN = 'attachments';
/** Most files of one example, and of one request. */
const MAX_OF_EXAMPLE = 100;
export const MAX_FILES = 500;
const MAX_NAME = 200;

const Operations = Type.Object({
  rename: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: MAX_NAME }))),
  retain: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_OF_EXAMPLE })),
});
const operations = compile(Operations);
export type Operations = Static<typeof Operations>;

/** What becomes of the files that an example has. @throws DomainError `invalid` */
export function readOperations(said: Json): Operations {
  return assertValid(operations, said);
}

/** @param refuse makes the error of a part */
export async function readFile(
  { bytes, mediaType }: FormPart,
  name: string,
  refuse: (detail: string) => DomainError,
): Promise<Media> {
  if (name === '' || name.length > MAX_NAME || name === '__proto__')
    throw refuse(`must have a name of at most ${MAX_NAME} characters`);
  const file = await mediaOf(bytes, mediaType);
  if (file === 'too_large') throw new DomainError('too_large', `The attachment ${name} has more than 10 MB`);
  if (file === 'no_image') throw refuse(`must be what its type says, and one of these: ${KEPT_KINDS}`);
  return file;
}

/** The column of an example with what it had and what is new. @throws DomainError `too_large` */
export function attachedTo(
  before: unknown,
  { files, operations: asked }: { readonly files: ReadonlyMap<string, Media>; readonly operations: Operations | null },
): Attached {
  const known = Object.entries(attachedIn(before));
  const { rename = {}, retain = [] } = asked ?? {};
  const stays = known.flatMap(([name, file]) => {
    if (asked === null || retain.includes(name)) return [[name, file] as const];
    return Object.hasOwn(rename, name) ? [[rename[name] ?? name, file] as const] : [];
  });
  const sent = [...files].map(([name, { sha256, type, bytes }]) => {
    return [name, { sha256, media_type: type, bytes: bytes.length }] as const;
  });
  const all = Object.fromEntries([...stays, ...sent]);
  if (Object.keys(all).length > MAX_OF_EXAMPLE)
    throw new DomainError('too_large', `An example has more than ${MAX_OF_EXAMPLE} attachments`);
  return all;
}

function attachedIn(column: unknown): Attached {
  const found = Object.entries(asObject(column) ?? {}).filter(
    ([, file]) => typeof asObject(file)?.['sha256'] === 'string',
  );
  return Object.fromEntries(found) as Attached;
}

const AttachmentUrl = Type.Object({
  presigned_url: Type.String({ description: 'URL of the file, which needs no key, for one hour.' }),
  s3_url: Type.String({ description: 'The same.' }),
  mime_type: Type.String({ description: 'Media type of the file.' }),
});
export const AttachmentUrls = Type.Record(Type.String(), AttachmentUrl, {
  description: 'Files of the example, by `attachment.` and their names.',
});

/** Where the files of a row are; null: it has none. */
export function urlsOf(
  files: Pick<RowFiles, 'find'>,
  { projectId, datasetId }: { readonly projectId: string; readonly datasetId: string },
  column: unknown,
): Static<typeof AttachmentUrls> | null {
  const found = Object.entries(attachedIn(column))
    .slice(0, MAX_OF_EXAMPLE)
    .flatMap(([name, { sha256 }]) => {
      const file = files.find(projectId, datasetId, sha256);
      if (file === null) return [];
      return [
        [`attachment.${name}`, { presigned_url: file.url, s3_url: file.url, mime_type: file.media_type }] as const,
      ];
    });
  return found.length === 0 ? null : Object.fromEntries(found);
}
