import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { RETRIES, retryDelay } from '../../../engine/work/backoff.js';

/** How often in a row a body may break off without a byte. */
const ATTEMPTS = 5;

export interface BodyParts {
  /** Asks for the same object from an offset on. */
  readonly get: (offset: number, etag: string | undefined) => Promise<GetObjectCommandOutput>;
  /** What is thrown in the end for what a body broke off with. */
  readonly failure: (error: unknown) => Error;
}

/** The bytes of an object, asked for again from where its body broke off: the AWS SDK tries requests again, not bodies. */
export async function* wholeBody(first: GetObjectCommandOutput, { get, failure }: BodyParts): AsyncGenerator<Buffer> {
  const { ContentLength: length = 0, ETag: etag } = first;
  let answer = first;
  let offset = 0;
  let failures = 0;
  for (;;) {
    try {
      if (!(answer.Body instanceof Readable)) throw new Error('The bucket responded without a body');
      for await (const piece of answer.Body as AsyncIterable<Buffer>) {
        offset += piece.length;
        failures = 0;
        yield piece;
      }
      if (offset >= length) return;
      throw new Error('The body ended early');
    } catch (error) {
      failures += 1;
      if (failures >= ATTEMPTS) throw failure(error);
    }
    await sleep(retryDelay(failures, RETRIES.work));
    answer = await get(offset, etag);
  }
}
