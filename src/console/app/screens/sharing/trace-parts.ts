import type { figuresOf, traceOutline } from '../../../model/trace-outline.js';
import type { ConversationIn } from '../../parts/conversation.js';
import type { JsonIn } from '../../parts/json-view.js';
import type { SpanError } from '../trace/span-error.js';
import type { Image } from '../trace/span-images.js';
import type { TraceBody } from '../trace/trace-body.js';

/** What the trace view is made of: its chunk is loaded beside this one. */
export interface TraceParts {
  readonly ConversationIn: typeof ConversationIn;
  readonly Image: typeof Image;
  readonly JsonIn: typeof JsonIn;
  readonly SpanError: typeof SpanError;
  readonly TraceBody: typeof TraceBody;
  readonly figuresOf: typeof figuresOf;
  readonly traceOutline: typeof traceOutline;
}
