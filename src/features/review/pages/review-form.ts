import type { Issue } from '../../../engine/errors.js';
import { DomainError } from '../../../engine/errors.js';
import { reviewInputSchema, type ReviewInput, type ReviewTextLimits } from '../schema.js';
import { idWriter } from '../../../engine/validation/body-parts.js';
import { compile, type Validator } from '../../../engine/validation/validation.js';
import { parseJson } from '../../../http/wire/json.js';
import type { BodyDefinition } from '../../../http/route.js';
import type { FormValues } from './completion-page.js';

/** A review as sent, before it is checked. */
export interface SentReview {
  /** Whether a form was sent: the answer is then a page. */
  readonly byForm: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

const FORM = 'application/x-www-form-urlencoded';
const MAX_FIELDS = 50;
/** A character takes three bytes of UTF-8 at most, and each of these three once it is percent-encoded. */
const BYTES_OF_CHARACTER = 9;
/** Names of fields, ids and the signature of the form. */
const OTHER_BYTES = 4096;

/** Reviews as they come in, for texts of these lengths. */
export class ReviewForm {
  readonly body: BodyDefinition<SentReview>;
  readonly #validator: Validator<ReviewInput>;

  constructor(limits: ReviewTextLimits) {
    const schema = reviewInputSchema(limits);
    const writeIds = idWriter(schema);
    const characters = limits.reason + limits.expected_output + limits.reviewer_name;
    this.#validator = compile(schema);
    this.body = {
      contentTypes: [FORM, 'application/json'],
      schema,
      maxBytes: characters * BYTES_OF_CHARACTER + OTHER_BYTES,
      decode(bytes, mediaType) {
        const { byForm, fields } = decode(bytes, mediaType);
        return { byForm, fields: writeIds(fields) as SentReview['fields'] };
      },
    };
  }

  /** The review, or everything that is wrong with it. */
  read(fields: SentReview['fields']): { review: ReviewInput } | { issues: readonly Issue[] } {
    const issues = this.#validator.issues(fields);
    return issues.length > 0 ? { issues } : { review: fields as ReviewInput };
  }
}

function decode(bytes: Buffer, mediaType: string): SentReview {
  if (mediaType === FORM) return { byForm: true, fields: formFields(bytes) };
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new DomainError('malformed', 'The JSON must be an object');
  return { byForm: false, fields: value as Record<string, unknown> };
}

/** Empty fields were not filled in. */
function formFields(bytes: Buffer): Record<string, unknown> {
  requireFewPairs(bytes);
  const pairs = [...new URLSearchParams(bytes.toString('utf8'))];
  // A browser counts a line break as one character and sends it as two.
  const filled = pairs.map(([name, text]) => [name, text.replaceAll('\r\n', '\n')]).filter(([, text]) => text !== '');
  const fields = Object.fromEntries(filled) as Record<string, string>;
  const thumb = fields['thumbs_up'];
  return { ...fields, ...(thumb === 'true' || thumb === 'false' ? { thumbs_up: thumb === 'true' } : {}) };
}

const AMPERSAND = 0x26;

/** Counted before they are parsed: a pair is two bytes as it is sent and hundreds in memory. */
function requireFewPairs(bytes: Buffer): void {
  let pairs = 1;
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    pairs += 1;
    if (pairs > MAX_FIELDS) throw new DomainError('malformed', 'The form has too many fields');
  }
}

/** The fields as sent, as values for showing the form again. */
export function formValues(fields: SentReview['fields']): FormValues {
  const text = (name: string) => (typeof fields[name] === 'string' ? fields[name] : '');
  return {
    thumbs_up: typeof fields['thumbs_up'] === 'boolean' ? fields['thumbs_up'] : null,
    reason: text('reason'),
    expected_output: text('expected_output'),
    reviewer_name: text('reviewer_name'),
  };
}
