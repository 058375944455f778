import type { TObject } from '@sinclair/typebox';
import { CALL_FIELDS } from '../../engine/traces/model/span/span-call.js';
import type { UnknownNames } from '../../engine/validation/unknown-names.js';

type Attributes = Record<string, unknown>;

/** What elements have in common whose unknown fields are kept. */
export interface WithAttributes {
  attributes?: Attributes | null;
  readonly session?: object | null;
}

export interface KnownFields {
  readonly ofElement: ReadonlySet<string>;
  /** Fields of answers that clients also write beside the attributes: known where an answer is sent back. */
  readonly ofAnswer: ReadonlySet<string>;
  readonly ofSession: ReadonlySet<string>;
}

/**
 * Fields that clients may send, and those that only answers have: these are no news to us when an answer is sent back.
 * @param session the schema of the member `session`
 */
export function knownFields(input: TObject, answered: object, session?: TObject): KnownFields {
  return {
    ofElement: new Set(
      [...Object.keys(input.properties), ...Object.keys(answered)].filter((name) => !CALL_FIELDS.has(name)),
    ),
    ofAnswer: CALL_FIELDS,
    ofSession: new Set(Object.keys(session?.properties ?? {})),
  };
}

/**
 * Puts unknown fields of an element among its attributes, in place, except for names that are there already. Null means absent.
 * Hostile elements have millions of fields, so that nothing is copied.
 */
export function keepUnknown(element: WithAttributes, known: KnownFields, unknown: UnknownNames): void {
  let kept: Attributes | null = null;
  const isAnswer = 'created_at' in element;
  for (const name in element) {
    if (known.ofElement.has(name) || (isAnswer && known.ofAnswer.has(name))) continue;
    const value = (element as Attributes)[name];
    if (value === null) continue;
    unknown.add(name);
    put((kept ??= {}), name, value);
  }
  if (element.session != null) nameUnknown(element.session, known.ofSession, unknown);
  if (kept === null) return;
  const { attributes } = element;
  for (const name in attributes) put(kept, name, attributes[name]);
  element.attributes = kept;
}

/** Assigned, `__proto__` would be no member. */
function put(attributes: Attributes, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(attributes, name, { value, writable: true, enumerable: true, configurable: true });
  else attributes[name] = value;
}

function nameUnknown(session: object, known: ReadonlySet<string>, unknown: UnknownNames): void {
  for (const name in session) {
    if (unknown.full) return;
    if (!known.has(name) && session[name as keyof object] !== null) unknown.add(`session.${name}`);
  }
}
