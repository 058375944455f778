import { text } from 'node:stream/consumers';
import { DomainError } from '../../engine/errors.js';
import { isJsonObject } from '../../engine/json-object.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import { spanList, traceList } from '../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../engine/traces/model/list/lists.js';
import { byIds } from '../../engine/traces/model/list/one.js';
import { LONGEST_OUTLINED } from '../../engine/traces/model/trace/outline-schema.js';
import type { Outline, OutlineService } from '../../engine/traces/model/trace/outline.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import type { AttachmentService, ChangeParts, KeptOfSpan, OpenedImage } from '../images/attachment-service.js';
import type { Masker } from '../masking/masker.js';
import type { MaskerOf } from '../masking/maskers.js';
import type { ShareLink, TracePart } from './share-link.js';
import { isShown, shownOfSpan, shownOfTrace, withoutUser, type ShownSpan, type ShownTrace } from './shown-fields.js';

export interface SharedTracesParts {
  readonly lists: Pick<Lists, 'spans' | 'traces'>;
  readonly outlines: Pick<OutlineService, 'of'>;
  readonly attachments: Pick<AttachmentService, 'keptOf' | 'openKept'>;
  readonly masker: MaskerOf;
  /** URL that the link with a token is shared by. */
  readonly urlOf: (token: string) => string;
}

/** A trace as a link shows it, with its tree. */
export interface SharedTrace {
  readonly trace: ShownTrace;
  readonly outline: Outline;
  readonly left_out: readonly TracePart[];
  readonly expires_at: string;
}

/** A span of it, with its images. */
export type SharedSpan = ShownSpan & {
  readonly images: readonly { readonly url: string; readonly label: string | null; readonly type: string }[];
};

/** A trace may be large, and whoever has a link may open it as often as they like: projects take turns. */
const AT_ONCE = { atOnce: 4, perParty: 2, maxWaiting: 32, maxWaitMs: 20_000 };
/** Of a name that was cut, so much of its end goes where values are masked: one may have been cut in the middle. */
const MAYBE_CUT = 64;
const NO_SPANS = { span: [], passed: [], failed: [] };

/** Reads what links show: of what is left out nothing is read, and masking rules are applied to the rest. */
export class SharedTraces {
  readonly #parts: SharedTracesParts;
  readonly #turns = new FairSemaphore('reads of shared traces', AT_ONCE);

  constructor(parts: SharedTracesParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found` when the trace is gone, `overloaded`, `unavailable` */
  trace(link: ShareLink, signal?: AbortSignal): Promise<SharedTrace> {
    return this.#turns.run(link.project_id, () => this.#trace(link, signal), signal);
  }

  /** A span of the link's trace, with its images below the link. @throws DomainError as {@link trace} */
  span(link: ShareLink, token: string, spanId: string, signal?: AbortSignal): Promise<SharedSpan> {
    return this.#turns.run(link.project_id, () => this.#span(link, token, spanId, signal), signal);
  }

  /** An image of a span of it. @param place its place among those that {@link span} lists @throws DomainError as {@link trace} */
  image(link: ShareLink, spanId: string, place: string, signal?: AbortSignal): Promise<OpenedImage> {
    return this.#turns.run(link.project_id, () => this.#image(link, spanId, place, signal), signal);
  }

  async #trace(link: ShareLink, signal: AbortSignal | undefined): Promise<SharedTrace> {
    const { project_id, trace_id, left_out, expires_at } = link;
    const query = { ...byIds(traceList, { id: trace_id }), fields: shownOfTrace(left_out) };
    const found = await onlyRow<ShownTrace>(this.#parts.lists.traces(project_id, query, signal));
    const masker = this.#parts.masker(project_id);
    const { outline } = await this.#parts.outlines.of(project_id, trace_id, signal);
    return {
      trace: await this.#shown(link, found, masker),
      outline: { ...withoutSaid(withoutCosts(outline, left_out)), ...(await maskedNames(outline, masker)) },
      left_out,
      expires_at: formatTimestamp(expires_at),
    };
  }

  async #span(link: ShareLink, token: string, spanId: string, signal: AbortSignal | undefined): Promise<SharedSpan> {
    const found = await this.#found(link, spanId, signal);
    const images = await this.#images(link, found, signal);
    const base = `${this.#parts.urlOf(token)}/spans/${spanId}/images`;
    return {
      ...(await this.#shown(link, found, this.#parts.masker(link.project_id))),
      images: images.map(({ type, label }, place) => ({ url: `${base}/${place}`, type, label })),
    };
  }

  async #image(link: ShareLink, spanId: string, place: string, signal: AbortSignal | undefined): Promise<OpenedImage> {
    const images = await this.#images(link, await this.#found(link, spanId, signal), signal);
    const image = /^\d{1,4}$/.test(place) ? images[Number(place)] : undefined;
    if (image === undefined) throw new DomainError('not_found', 'The span shows no such image');
    return this.#parts.attachments.openKept(link.project_id, image.sha256);
  }

  #found({ project_id, trace_id, left_out }: ShareLink, spanId: string, signal?: AbortSignal): Promise<ShownSpan> {
    const query = { ...byIds(spanList, { id: spanId, trace_id }), fields: shownOfSpan(left_out) };
    return onlyRow<ShownSpan>(this.#parts.lists.spans(project_id, query, signal));
  }

  async #shown<T extends ShownTrace | ShownSpan>({ left_out }: ShareLink, read: T, masker: Masker | null): Promise<T> {
    const shown = isShown(left_out, 'user') ? read : withoutUser(read);
    const [masked = shown] = masker === null ? [] : await masker.maskEach([shown]);
    return masked;
  }

  /**
   * Images are part of the texts that they stand in; those that are kept elsewhere are not shown, as that place would learn who reads
   * the trace. What rules mask is masked before images are looked for, so that they hide images, too.
   */
  async #images(
    { project_id, trace_id, left_out }: ShareLink,
    { id: spanId, input_data = null, output_data = null }: ShownSpan,
    signal: AbortSignal | undefined,
  ): Promise<KeptOfSpan[]> {
    if (!isShown(left_out, 'texts')) return [];
    const masker = this.#parts.masker(project_id);
    const masked: ChangeParts = async (stored) => {
      if (masker === null) return stored;
      // Attributes that repeat an input are masked as it is.
      const { attributes, media } = stored;
      const whole = { input_data, output_data: stored.output_data ?? output_data, attributes };
      const [shown = whole] = await masker.maskEach([whole]);
      const said = JSON.stringify(shown);
      // A path may mean all attributes.
      const left = isJsonObject(shown.attributes) ? shown.attributes : {};
      return { output_data: shown.output_data, attributes: left, media: media.filter((id) => said.includes(id)) };
    };
    return this.#parts.attachments.keptOf(project_id, { spanId, traceId: trace_id }, masked, signal);
  }
}

/** What judges and people say of spans is not shared. */
function withoutSaid(outline: Outline): Outline {
  return { ...outline, evaluations: NO_SPANS, feedback: { span: [], up: [], down: [] } };
}

function withoutCosts(outline: Outline, leftOut: readonly TracePart[]): Outline {
  if (isShown(leftOut, 'costs')) return outline;
  const { spans, calls } = outline;
  const none = calls.span.map(() => null);
  return {
    ...outline,
    spans: { ...spans, cost: spans.cost.map(() => null) },
    calls: { ...calls, input_tokens: none, output_tokens: none },
  };
}

async function maskedNames({ names }: Outline, masker: Masker | null): Promise<Pick<Outline, 'names'>> {
  if (masker === null) return { names };
  const masked = await masker.maskEach(names.map((name) => ({ name })));
  const wasCut = (at: number) => (names[at]?.length ?? 0) >= LONGEST_OUTLINED;
  return { names: masked.map(({ name }, at) => (wasCut(at) ? `${name.slice(0, -MAYBE_CUT).toWellFormed()}…` : name)) };
}

/** @throws DomainError `not_found` where there is none */
async function onlyRow<T>(asked: Promise<Page>): Promise<T> {
  const { json } = await asked;
  const [row] = JSON.parse(Buffer.isBuffer(json) ? json.toString() : await text(json)) as T[];
  if (row === undefined) throw new DomainError('not_found', 'What this link shows was deleted');
  return row;
}
