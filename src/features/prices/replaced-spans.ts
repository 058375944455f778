import type { AttachmentIntake } from '../images/intake.js';
import type { Micros } from '../../engine/timestamp.js';
import type { PlacedSpan, SpanRevision, StoredSpan } from '../../engine/traces/model/prices/calculated-spans.js';

/** Whole spans are read and written in parts of about this size. */
const MAX_PART_BYTES = 8 * 1024 * 1024;

/**
 * Replaces span versions. References of a new version to images are noted before those of the old one end.
 * @returns as {@link SpanRevision.replace}
 */
export async function replaceSpans(
  revision: Pick<SpanRevision, 'replace'>,
  attachments: AttachmentIntake,
  projectId: string,
  stored: readonly StoredSpan[],
): Promise<(Micros | null)[]> {
  const inspected = await attachments.inspect(stored.map(({ span }) => span));
  // A stored span was sound when it came; one that is not any more stays as it is.
  const flawed = new Set(inspected.flaws.map(({ index }) => index));
  const versions = stored.flatMap(({ version }, index) => (flawed.has(index) ? [] : [version]));
  const detached = await attachments.detach(projectId, inspected);
  try {
    const times = await revision.replace(
      detached.spans.map((span, index) => ({ version: versions[index] ?? 0, span })),
    );
    await detached.stored(times);
    return times;
  } catch (error) {
    await detached.failed();
    throw error;
  }
}

export function* inParts<S extends PlacedSpan>(spans: readonly S[]): Generator<S[]> {
  let part: S[] = [];
  let bytes = 0;
  for (const span of spans) {
    if (part.length > 0 && bytes + span.bytes > MAX_PART_BYTES) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(span);
    bytes += span.bytes;
  }
  if (part.length > 0) yield part;
}
