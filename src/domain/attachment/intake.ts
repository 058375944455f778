import pLimit from 'p-limit';
import type { Issue } from '../errors.js';
import type { Span } from '../span/span.js';
import type { Micros } from '../time/timestamp.js';
import type { Naming } from './catalogue.js';
import { inspect, keptImage, mayHoldImages, withReferences, type Found, type KeptImage } from './extraction.js';
import type { Image } from './image.js';
import type { AttachmentVault } from './vault.js';

/** A span whose attachments or tags break a rule. */
export interface SpanFlaw {
  /** Of the span in the array that was handed in. */
  readonly index: number;
  /** Their pointers start at the span. */
  readonly issues: readonly Issue[];
}

/** Spans that were looked through; nothing is stored yet. */
export interface InspectedSpans {
  readonly flaws: readonly SpanFlaw[];
  /** The spans without a flaw, in their order. */
  readonly sound: readonly Span[];
  /** By place in `sound`; only spans that hold images. */
  readonly found: ReadonlyMap<number, readonly Found[]>;
}

/** Spans whose images are kept apart, durably. The spans must now be stored, and one of the two be called. */
export interface DetachedSpans {
  readonly spans: readonly Span[];
  /** @param createdAt of the spans, in their order; null for one that was not stored */
  stored(createdAt: readonly (Micros | null)[]): void;
  /** Perhaps not stored: what was kept is removed later unless a span names it after all. */
  failed(): void;
}

/**
 * Fetches the image at a URL, if its host may be asked.
 * @returns null when it may not, does not answer in time, or holds no image; never throws
 */
export type FetchImage = (url: string) => Promise<Image | null>;

/** Takes images out of spans on their way in. */
export interface AttachmentIntake {
  inspect(spans: readonly Span[]): Promise<InspectedSpans>;
  /** @throws DomainError `unavailable` when an image cannot be stored */
  detach(projectId: string, inspected: InspectedSpans): Promise<DetachedSpans>;
}

/** Images fetched at once, over all requests; it bounds the memory they take. */
const FETCHES_AT_ONCE = 8;
/** After this long with a request, its URLs that were not fetched yet stay references. */
const MAX_FETCHING_MS = 10_000;

/** How a naming belongs to a span of the request. */
interface Named {
  readonly id: number;
  readonly span: number;
}

type Kept = Map<number, Map<Found, KeptImage>>;

export class VaultIntake implements AttachmentIntake {
  readonly #vault: AttachmentVault;
  readonly #fetch: FetchImage;
  readonly #fetches = pLimit(FETCHES_AT_ONCE);

  constructor(vault: AttachmentVault, fetch: FetchImage) {
    this.#vault = vault;
    this.#fetch = fetch;
  }

  async inspect(spans: readonly Span[]): Promise<InspectedSpans> {
    if (!spans.some(mayHoldImages)) return { flaws: [], sound: spans, found: new Map() };
    const flaws: SpanFlaw[] = [];
    const sound: Span[] = [];
    const found = new Map<number, readonly Found[]>();
    for (const [index, span] of spans.entries()) {
      const inspection = mayHoldImages(span) ? await inspect(span) : null;
      if (inspection !== null && inspection.issues.length > 0) {
        flaws.push({ index, issues: inspection.issues });
        continue;
      }
      if (inspection !== null && inspection.found.length > 0) found.set(sound.length, inspection.found);
      sound.push(span);
    }
    return { flaws, sound, found };
  }

  async detach(projectId: string, { sound, found }: InspectedSpans): Promise<DetachedSpans> {
    if (found.size === 0) return { spans: sound, stored: () => undefined, failed: () => undefined };
    const named: Named[] = [];
    const kept: Kept = new Map();
    const failed = () => this.#settle(named, null);
    try {
      await this.#keepSent(projectId, sound, found, { named, kept });
      await this.#keepFetched(projectId, sound, found, { named, kept });
      const spans = sound.map((span, index) => withReferences(span, kept.get(index) ?? new Map<Found, KeptImage>()));
      return { spans, stored: (createdAt) => this.#settle(named, createdAt), failed };
    } catch (error) {
      failed();
      throw error;
    }
  }

  /** Images whose data came along, and those named by the hash of one kept already. */
  async #keepSent(
    projectId: string,
    spans: readonly Span[],
    all: InspectedSpans['found'],
    into: { named: Named[]; kept: Kept },
  ): Promise<void> {
    const namings: (Naming & { image: KeptImage; span: number })[] = [];
    const images: Image[] = [];
    for (const [index, span] of entries(all, spans)) {
      for (const found of span.found) {
        const image = found.image === null ? this.#known(projectId, found) : keptImage(found.image);
        if (image === undefined) continue;
        if (found.image !== null) images.push(found.image);
        keptOf(into.kept, index).set(found, image);
        namings.push({ ...nameOf(span.span), sha256: image.sha256, image, span: index });
      }
    }
    this.#name(projectId, namings, into.named);
    await this.#vault.keep(projectId, images);
  }

  async #keepFetched(
    projectId: string,
    spans: readonly Span[],
    all: InspectedSpans['found'],
    into: { named: Named[]; kept: Kept },
  ): Promise<void> {
    const until = performance.now() + MAX_FETCHING_MS;
    const work: Promise<void>[] = [];
    for (const [index, { span, found: list }] of entries(all, spans)) {
      for (const found of list) {
        const url = linkOf(found);
        if (url === null || into.kept.get(index)?.has(found) === true) continue;
        work.push(
          this.#fetches(async () => {
            const image = performance.now() > until ? null : await this.#fetch(url);
            if (image === null) return;
            const reference = keptImage(image);
            this.#name(
              projectId,
              [{ ...nameOf(span), sha256: image.sha256, image: reference, span: index }],
              into.named,
            );
            await this.#vault.keep(projectId, [image]);
            keptOf(into.kept, index).set(found, reference);
          }),
        );
      }
    }
    // Every one is over before anything is settled.
    const failure = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  #known(projectId: string, { source }: Found): KeptImage | undefined {
    return source.by === 'hash' ? this.#vault.find(projectId, source.sha256) : undefined;
  }

  #name(
    projectId: string,
    namings: readonly (Naming & { readonly image: KeptImage; readonly span: number })[],
    into: Named[],
  ): void {
    const ids = this.#vault.name(projectId, namings);
    ids.forEach((id, at) => into.push({ id, span: namings[at]?.span ?? 0 }));
  }

  #settle(named: readonly Named[], createdAt: readonly (Micros | null)[] | null): void {
    const bindings = named.flatMap(({ id, span }) => {
      const version = createdAt?.[span];
      return version == null ? [] : [{ id, version }];
    });
    this.#vault.settle(
      named.map(({ id }) => id),
      bindings,
    );
  }
}

function* entries(all: InspectedSpans['found'], spans: readonly Span[]) {
  for (const [index, found] of all) {
    const span = spans[index];
    if (span !== undefined) yield [index, { span, found }] as const;
  }
}

function nameOf(span: Span): Omit<Naming, 'sha256'> {
  return { trace_id: span.trace_id, span_id: span.id };
}

function linkOf({ source }: Found): string | null {
  return source.by === 'data' ? null : source.url;
}

function keptOf(kept: Kept, index: number): Map<Found, KeptImage> {
  const known = kept.get(index);
  if (known !== undefined) return known;
  const made = new Map<Found, KeptImage>();
  kept.set(index, made);
  return made;
}
