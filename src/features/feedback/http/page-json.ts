import { Readable } from 'node:stream';
import type { FeedbackPage } from '../feedback-lists.js';
import type { Window } from '../../../engine/schema/page.js';
import type { SerializedResult } from '../../../http/route.js';
import { listedFeedbackRead } from './presenters.js';

/** The answer that is a page of feedback, written as its items are read: together they may be larger than memory. */
export function feedbackPageAnswer(page: FeedbackPage, window: Window): SerializedResult {
  const stream = Readable.from(jsonOf(page, window), { objectMode: false });
  return { status: 200, stream, contentType: 'application/json' };
}

async function* jsonOf({ total, items }: FeedbackPage, { limit, offset }: Window): AsyncGenerator<string> {
  yield `${JSON.stringify({ total, limit, offset }).slice(0, -1)},"feedback":[`;
  let before = '';
  for await (const portion of items) {
    for (const item of portion) {
      yield before + JSON.stringify(listedFeedbackRead(item));
      before = ',\n';
    }
  }
  yield ']}';
}
