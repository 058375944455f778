import { DomainError } from '../../engine/errors.js';
import { JsonNames } from '../../engine/json-text.js';
import { withTurns } from '../../engine/work/portions.js';
import { jsonPart, readFormData, shownPart, type FormPart } from '../../http/form-data.js';
import { imageOf, MAX_IMAGES_PER_SPAN } from '../../features/images/image.js';
import type { SentAttachment, SentRun } from './read-runs.js';
import { MAX_RUNS } from './run-schema.js';
import { asObject } from '../../facade/json.js';

/** Parts of one request. */
const MAX_PARTS = 8 * MAX_RUNS;
/** Attachments of one run. */
const MAX_ATTACHMENTS = 1_000;

/** Fields of a run that come as parts of their own. */
const FIELDS: ReadonlySet<string> = new Set(['inputs', 'outputs', 'events', 'extra', 'error', 'serialized']);

/** What a request holds. */
export interface SentParts {
  readonly runs: SentRun[];
  readonly feedback: { readonly body: unknown; readonly pointer: string }[];
}

interface GatheredRun {
  readonly verb: string;
  readonly id: string;
  readonly fields: Record<string, unknown>;
  body: unknown;
}

/** Files of a run, and how many of them are images that are kept. */
interface GatheredFiles {
  readonly files: SentAttachment[];
  images: number;
}

/**
 * Reads runs whose fields, and whose files, are parts of their own: `post.<id>`, `patch.<id>`, `<verb>.<id>.<field>`,
 * `attachment.<id>.<name>`, and `feedback.<id>`.
 * @throws DomainError `malformed`, `too_large`, `invalid`
 */
export async function readParts(bytes: Buffer): Promise<SentParts> {
  const names = new JsonNames();
  const runs = new Map<string, GatheredRun>();
  const feedback: SentParts['feedback'] = [];
  const attachments = new Map<string, GatheredFiles>();
  for await (const part of withTurns(readFormData(bytes, MAX_PARTS))) {
    const [verb = '', id = '', ...rest] = part.name.split('.');
    const more = rest.join('.');
    if (verb === 'attachment') {
      const known = attachments.get(id) ?? { files: [], images: 0 };
      attachments.set(id, known);
      await attach(known, part, more);
    } else if (verb === 'feedback') feedback.push({ body: jsonPart(part, names), pointer: `/${part.name}` });
    else if ((verb === 'post' || verb === 'patch') && (more === '' || FIELDS.has(more)))
      gather(runs, { verb, id, more }, jsonPart(part, names));
    else throw new DomainError('invalid', `The part ${shownPart(part)} is unknown`, { issues: [unknownPart(part)] });
  }
  return { runs: [...runs.values()].map((run) => sentRun(run, attachments)), feedback };
}

function gather(
  runs: Map<string, GatheredRun>,
  { verb, id, more }: { readonly verb: string; readonly id: string; readonly more: string },
  value: unknown,
): void {
  const key = `${verb}.${id}`;
  const run = runs.get(key) ?? { verb, id, fields: {}, body: undefined };
  runs.set(key, run);
  if (runs.size > MAX_RUNS)
    throw new DomainError('too_large', `The body has more than ${MAX_RUNS} runs: send smaller batches`);
  if (more === '') run.body = value;
  else run.fields[more] = value;
}

function sentRun({ verb, id, fields, body }: GatheredRun, attachments: ReadonlyMap<string, GatheredFiles>): SentRun {
  const object = body === undefined ? { id } : asObject(body);
  return {
    isPatch: verb === 'patch',
    body: object === undefined ? body : { ...object, ...fields },
    pointer: `/${verb}.${id}`,
    attachments: attachments.get(id)?.files ?? [],
  };
}

/** An image is kept, as far as a span may have so many; of anything else, what it was called. @throws DomainError `too_large` */
async function attach(known: GatheredFiles, { bytes, mediaType }: FormPart, name: string): Promise<void> {
  if (known.files.length >= MAX_ATTACHMENTS)
    throw new DomainError('too_large', `A run has more than ${MAX_ATTACHMENTS} attachments`);
  const mayBeKept = mediaType.startsWith('image/') && known.images < MAX_IMAGES_PER_SPAN;
  const isKept = mayBeKept && typeof (await imageOf(bytes)) !== 'string';
  if (isKept) known.images += 1;
  const described = { name: name.slice(0, 1000), mediaType, bytes: bytes.length };
  known.files.push({ ...described, base64: isKept ? bytes.toString('base64') : null });
}

function unknownPart(part: FormPart) {
  return { pointer: `/${part.name.slice(0, 100)}`, detail: 'is unknown' };
}
