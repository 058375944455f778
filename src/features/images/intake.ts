import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Issue } from '../../engine/errors.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { Micros } from '../../engine/timestamp.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import type { ImageReference } from '../../engine/traces/model/attachments.js';
import {
  inspect,
  keptImage,
  mayHoldImages,
  oneTooMany,
  withReferences,
  type Found,
  type Inspection,
  type KeptImage,
} from './extraction.js';
import { PLACES, storedItems } from './items.js';
import { MAX_IMAGES_PER_REQUEST, type Image } from './image.js';
import { mediaIn } from './media-in-span.js';
import type { AttachmentVault } from './vault.js';

/** A span whose attachments or tags break a rule. */
export interface SpanFlaw {
  /** Index of the span in the array that was handed in. */
  readonly index: number;
  /** Broken rules, with pointers that start at the span. */
  readonly issues: readonly Issue[];
}

/** Spans that were looked through; nothing is stored yet. */
export interface InspectedSpans {
  readonly flaws: readonly SpanFlaw[];
  /** The spans without a flaw, in their order. */
  readonly sound: readonly Span[];
  /** Images by the index of their span in `sound`; spans without images are left out. */
  readonly found: ReadonlyMap<number, readonly Found[]>;
  /** Ids of media that spans refer to, by the index of their span in `sound`. */
  readonly media: ReadonlyMap<number, readonly string[]>;
}

/** Spans whose images are kept apart, durably. The spans must now be stored, and one of the two be called. */
export interface DetachedSpans {
  readonly spans: readonly Span[];
  /** @param createdAt of the spans, in their order; null for one that was not stored. Never rejects. */
  stored(createdAt: readonly (Micros | null)[]): Promise<void>;
  /** The spans were perhaps not stored: images without a reference after all are removed later. Never rejects. */
  failed(): Promise<void>;
}

/** Fetches linked images from their hosts. */
export interface ImageSource {
  /** Whether images may be fetched from the URL's host. */
  mayFetch(url: string): boolean;
  /** Fetches an image; null: no answer in time, or no image. Never rejects. @param url one that may be fetched */
  fetch(url: string): Promise<Image | null>;
}

/** Fetches nothing: linked images stay URLs. */
export const NO_SOURCE: ImageSource = { mayFetch: () => false, fetch: () => Promise.resolve(null) };

/** Takes images out of spans on their way in. */
export interface AttachmentIntake {
  inspect(spans: readonly Span[]): Promise<InspectedSpans>;
  /** @throws DomainError `unavailable` when an image cannot be stored, `overloaded` when too many are being stored */
  detach(projectId: string, inspected: InspectedSpans): Promise<DetachedSpans>;
}

/** Spans with images were given to an intake that keeps none. */
export class ImagesFoundError extends Error {
  constructor() {
    super('The spans may contain images, which are not stored here');
    this.name = 'ImagesFoundError';
  }
}

/** Takes in spans without images alone: it has no place to keep any. `inspect` rejects with {@link ImagesFoundError} otherwise. */
export const NO_IMAGES: AttachmentIntake = {
  async inspect(spans) {
    if (spans.some(mayHoldImages)) throw new ImagesFoundError();
    return withoutImages(spans);
  },
  detach: async (_projectId, { sound }) => asTheyAre(sound),
};

function withoutImages(spans: readonly Span[]): InspectedSpans {
  return { flaws: [], sound: spans, found: new Map(), media: new Map() };
}

function asTheyAre(spans: readonly Span[]): DetachedSpans {
  return { spans, stored: () => Promise.resolve(), failed: () => Promise.resolve() };
}

/**
 * Images fetched at once, over all requests, which bounds the memory they take; a project whose host hangs never has all of
 * them. A URL that has waited for its turn for so long stays a reference.
 */
const FETCHES = { atOnce: 8, perParty: 6, maxWaitMs: 10_000 };
/** Spans that are looked through before others are served, and for how long at most. */
const INSPECTED_AT_ONCE = { spans: 20, ms: 10 };
/** References noted in one transaction: a few milliseconds, so that nobody waits. */
const NAMED_AT_ONCE = 500;
/** References to media of one request that are noted: what is referred to beyond them stays as long as it was announced for. */
const MAX_MEDIA_PER_REQUEST = 5_000;

/** How a reference belongs to a span of the request. */
interface Named {
  readonly id: number;
  readonly span: number;
}

type Kept = Map<number, Map<Found, KeptImage>>;

/** An image of a span of the request. */
interface Occurrence {
  readonly index: number;
  readonly span: Span;
  readonly found: Found;
}

const NOTHING: Inspection = { found: [], issues: [] };

export class VaultIntake implements AttachmentIntake {
  readonly #vault: AttachmentVault;
  readonly #source: ImageSource;
  readonly #maxImages: number;
  readonly #fetches: FairSemaphore;
  /** Whether images that are kept already count. */
  readonly #countsKept: boolean;

  /** @param maxImages of one request; URLs that are not fetched do not count */
  constructor(
    vault: AttachmentVault,
    source: ImageSource,
    maxImages = MAX_IMAGES_PER_REQUEST,
    { fetches = new FairSemaphore('images fetched', FETCHES), countsKept = true } = {},
  ) {
    this.#vault = vault;
    this.#source = source;
    this.#maxImages = maxImages;
    this.#fetches = fetches;
    this.#countsKept = countsKept;
  }

  /** Takes in spans that more was added to: what they had before does not count, and is not fetched again. */
  of(stored: readonly Span[]): AttachmentIntake {
    const source = this.#source;
    const links = new Set(stored.flatMap(linksOf));
    const others: ImageSource = {
      mayFetch: (url) => !links.has(url) && source.mayFetch(url),
      fetch: (url) => source.fetch(url),
    };
    return new VaultIntake(this.#vault, others, this.#maxImages, { fetches: this.#fetches, countsKept: false });
  }

  async inspect(spans: readonly Span[]): Promise<InspectedSpans> {
    if (!spans.some(mayHoldImages)) return withoutImages(spans);
    const flaws: SpanFlaw[] = [];
    const sound: Span[] = [];
    const found = new Map<number, readonly Found[]>();
    const media = new Map<number, readonly string[]>();
    let room = this.#maxImages;
    let [looked, began] = [0, performance.now()];
    for (const [index, span] of spans.entries()) {
      const mayHold = mayHoldImages(span);
      if (mayHold) looked += 1;
      if (looked >= INSPECTED_AT_ONCE.spans || performance.now() - began > INSPECTED_AT_ONCE.ms) {
        await nextTurn();
        [looked, began] = [0, performance.now()];
      }
      const inspection = mayHold ? await inspect(span) : NOTHING;
      const images = inspection.found.filter((item) => item.image !== null || this.#counts(item));
      const surplus = images[room];
      const issues =
        surplus === undefined || inspection.issues.length > 0
          ? inspection.issues
          : [oneTooMany(surplus, `a request can have at most ${this.#maxImages}`)];
      if (issues.length > 0) {
        flaws.push({ index, issues });
        continue;
      }
      room -= images.length;
      if (inspection.found.length > 0) found.set(sound.length, inspection.found);
      const referred = mayHold ? mediaIn(span) : [];
      if (referred.length > 0) media.set(sound.length, referred);
      sound.push(span);
    }
    return { flaws, sound, found, media };
  }

  /** Whether an item without data counts, as it may name an image that is kept. */
  #counts({ source }: Found): boolean {
    return (source.by === 'hash' && this.#countsKept) || (source.by === 'url' && this.#source.mayFetch(source.url));
  }

  async detach(projectId: string, { sound, found, media }: InspectedSpans): Promise<DetachedSpans> {
    if (found.size === 0 && media.size === 0) return asTheyAre(sound);
    const named: Named[] = [];
    const kept: Kept = new Map();
    const failed = () => this.#settle(named, null);
    try {
      if (media.size > 0) await this.#nameMedia(projectId, { sound, media }, named);
      const occurrences = occurrencesOf(found, sound);
      await this.#keepSent(projectId, occurrences, { named, kept });
      await this.#keepFetched(projectId, occurrences, { named, kept });
      const spans = sound.map((span, index) => withReferences(span, kept.get(index) ?? new Map<Found, KeptImage>()));
      return { spans, stored: (createdAt) => this.#settle(named, createdAt), failed };
    } catch (error) {
      await failed();
      throw error;
    }
  }

  /** Notes references to media that came before. What comes later was announced, and waits for its span. */
  async #nameMedia(
    projectId: string,
    { sound, media }: Pick<InspectedSpans, 'sound' | 'media'>,
    into: Named[],
  ): Promise<void> {
    const referred = [...media].flatMap(([index, ids]) => ids.map((id) => ({ index, id })));
    for (let from = 0; from < Math.min(referred.length, MAX_MEDIA_PER_REQUEST); from += NAMED_AT_ONCE) {
      if (from > 0) await nextTurn();
      const references = referred.slice(from, from + NAMED_AT_ONCE).flatMap(({ index, id }) => {
        const image = this.#vault.findMedia(projectId, id);
        const span = sound[index];
        if (image === undefined || span === undefined) return [];
        return [{ ...nameOf(span), sha256: image.sha256, image, span: index }];
      });
      this.#name(projectId, references, into);
    }
  }

  /** Keeps images whose data came along, and notes references by hash to images kept already. */
  async #keepSent(
    projectId: string,
    occurrences: readonly Occurrence[],
    into: { named: Named[]; kept: Kept },
  ): Promise<void> {
    const images: Image[] = [];
    for (let from = 0; from < occurrences.length; from += NAMED_AT_ONCE) {
      if (from > 0) await nextTurn();
      const references: (ImageReference & { image: KeptImage; span: number })[] = [];
      // References to kept images are noted in the same turn of the event loop: later the images might be gone.
      for (const { index, span, found } of occurrences.slice(from, from + NAMED_AT_ONCE)) {
        const image = found.image === null ? this.#known(projectId, found) : keptImage(found.image);
        if (image === undefined) continue;
        if (found.image !== null) images.push(found.image);
        keptOf(into.kept, index).set(found, image);
        references.push({ ...nameOf(span), sha256: image.sha256, image, span: index });
      }
      this.#name(projectId, references, into.named);
    }
    await this.#vault.keep(projectId, images);
  }

  async #keepFetched(
    projectId: string,
    occurrences: readonly Occurrence[],
    into: { named: Named[]; kept: Kept },
  ): Promise<void> {
    const work = occurrences.map(async (occurrence) => {
      const url = linkOf(occurrence.found);
      const isKept = into.kept.get(occurrence.index)?.has(occurrence.found) === true;
      if (url === null || isKept || !this.#source.mayFetch(url)) return;
      const endTurn = await this.#fetches.take(projectId).catch(() => null);
      if (endTurn === null) return;
      try {
        await this.#keepLinked(projectId, occurrence, url, into);
      } finally {
        endTurn();
      }
    });
    // Every fetch is over before any reference is settled.
    const failure = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  async #keepLinked(
    projectId: string,
    { index, span, found }: Occurrence,
    url: string,
    into: { named: Named[]; kept: Kept },
  ): Promise<void> {
    const image = await this.#source.fetch(url);
    if (image === null) return;
    const reference = keptImage(image);
    this.#name(projectId, [{ ...nameOf(span), sha256: image.sha256, image: reference, span: index }], into.named);
    await this.#vault.keep(projectId, [image]);
    keptOf(into.kept, index).set(found, reference);
  }

  #known(projectId: string, { source }: Found): KeptImage | undefined {
    return source.by === 'hash' ? this.#vault.find(projectId, source.sha256) : undefined;
  }

  #name(
    projectId: string,
    references: readonly (ImageReference & { readonly image: KeptImage; readonly span: number })[],
    into: Named[],
  ): void {
    const ids = this.#vault.name(projectId, references);
    ids.forEach((id, at) => into.push({ id, span: references[at]?.span ?? 0 }));
  }

  #settle(named: readonly Named[], createdAt: readonly (Micros | null)[] | null): Promise<void> {
    const bindings = named.flatMap(({ id, span }) => {
      const version = createdAt?.[span];
      return version == null ? [] : [{ id, version }];
    });
    return this.#vault.settle(
      named.map(({ id }) => id),
      bindings,
    );
  }
}

function occurrencesOf(all: InspectedSpans['found'], spans: readonly Span[]): Occurrence[] {
  return [...all].flatMap(([index, list]) => {
    const span = spans[index];
    return span === undefined ? [] : list.map((found) => ({ index, span, found }));
  });
}

function nameOf(span: Span): Omit<ImageReference, 'sha256'> {
  return { trace_id: span.trace_id, span_id: span.id };
}

/** The links of a stored span that name no kept image. */
function linksOf(span: Span): string[] {
  if (!mayHoldImages(span)) return [];
  return PLACES.flatMap((place) =>
    storedItems(place, span).flatMap(({ source }) => (source.by === 'url' ? [source.url] : [])),
  );
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
