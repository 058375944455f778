/** One place a value may come from. A string is the name of an attribute. */
export type Source =
  | string
  /** Attributes `<indexed>.N.<path>`, which together make up a list of messages. */
  | { readonly indexed: string }
  /** An attribute of the span event of this name. */
  | { readonly event: string; readonly attribute: string }
  /** Span events that are one message each: event name → role of the message, unless it states one. */
  | { readonly messages: Readonly<Record<string, string>> }
  /** Attributes `<each>.<name>`, which together make up an object of these names. */
  | { readonly each: string }
  /** An attribute that is JSON: of a text in quotes, what stands in them; all else as it is. */
  | { readonly json: string }
  /** A member of an attribute that is an object, or the JSON text of one; `a.b` is the member `b` of `a`. */
  | { readonly within: string; readonly member: string }
  /** The sum of the numbers in such an object whose names match. */
  | { readonly within: string; readonly sum: RegExp };

/**
 * How a value is read; a source whose value cannot be read so is passed over.
 * - `text`: a string that is not empty, or a number
 * - `provider`: text without the name of the API that the Vercel AI SDK appends
 * - `count`: a whole number of tokens, as a number or as text
 * - `amount`: US dollars, as a number or as text
 * - `line`: a line number
 * - `payload`: anything that is not empty; what is not text becomes its JSON
 * - `slug`: text that may be the slug or the id of a prompt
 * - `uuid`: a UUID
 * - `version`: the number of a version, or what else names it
 * - `names`: a list of names, as a list or its JSON text; other text is one name
 * - `object`: the JSON text of an object
 */
export type Reading =
  'text' | 'provider' | 'count' | 'amount' | 'line' | 'payload' | 'slug' | 'uuid' | 'version' | 'names' | 'object';

export interface FieldRule {
  /** Where the value goes, for the manual. */
  readonly becomes: string;
  readonly reads: Reading;
  /** In order of preference: the first one that can be read wins. */
  readonly sources: readonly Source[];
}
