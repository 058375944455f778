import type { Issue } from '../../../../domain/errors.js';
import { DomainError } from '../../../../domain/errors.js';
import { ReviewInput } from '../../../../domain/review/schema.js';
import { compile } from '../../../../domain/validation/validation.js';
import { parseJson } from '../../json.js';
import type { BodyDefinition } from '../../route.js';
import type { FormValues } from './completion-page.js';

/** What a reviewer sent, before anything about it is known to be right. */
export interface SentReview {
  /** Whether a form was sent: the answer is then a page. */
  readonly byForm: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

const FORM = 'application/x-www-form-urlencoded';
/** The longest texts, every character percent-encoded. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FIELDS = 50;

export const reviewBody: BodyDefinition<SentReview> = {
  contentTypes: [FORM, 'application/json'],
  schema: ReviewInput,
  maxBytes: MAX_BYTES,
  decode(bytes, mediaType) {
    if (mediaType === FORM) return { byForm: true, fields: formFields(bytes) };
    const value = parseJson(bytes);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new DomainError('malformed', 'The JSON must be an object');
    return { byForm: false, fields: value as Record<string, unknown> };
  },
};

/** Empty fields were not filled in. */
function formFields(bytes: Buffer): Record<string, unknown> {
  const pairs = [...new URLSearchParams(bytes.toString('utf8'))];
  if (pairs.length > MAX_FIELDS) throw new DomainError('malformed', 'The form has too many fields');
  const fields = Object.fromEntries(pairs.filter(([, text]) => text !== ''));
  const thumb = fields['thumbs_up'];
  return { ...fields, ...(thumb === 'true' || thumb === 'false' ? { thumbs_up: thumb === 'true' } : {}) };
}

const validator = compile(ReviewInput);

/** The review, or everything that is wrong with it. */
export function readReview(fields: SentReview['fields']): { review: ReviewInput } | { issues: readonly Issue[] } {
  const issues = validator.issues(fields);
  return issues.length > 0 ? { issues } : { review: fields as ReviewInput };
}

/** As they go back into the form. */
export function formValues(fields: SentReview['fields']): FormValues {
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    thumbs_up: typeof fields['thumbs_up'] === 'boolean' ? fields['thumbs_up'] : null,
    reason: text('reason'),
    expected_output: text('expected_output'),
    reviewer_name: text('reviewer_name'),
  };
}
