import type { TObject } from '@sinclair/typebox';
import type { UnknownNames } from '../validation/unknown-names.js';

/** What elements have in common whose unknown fields are kept. */
export interface WithAttributes {
  readonly attributes?: Readonly<Record<string, unknown>> | null;
  readonly session?: object | null;
}

export interface KnownFields {
  readonly ofElement: ReadonlySet<string>;
  readonly ofSession: ReadonlySet<string>;
}

/**
 * Fields that clients may send, and those that only answers have: these are no news to us when an answer is sent back.
 * @param session the schema of the member `session`
 */
export function knownFields(input: TObject, answered: object, session?: TObject): KnownFields {
  return {
    ofElement: new Set([...Object.keys(input.properties), ...Object.keys(answered)]),
    ofSession: new Set(Object.keys(session?.properties ?? {})),
  };
}

/** The element with its unknown fields among its attributes, never in the place of one that is there. Null means absent. */
export function keepUnknown<I extends WithAttributes>(element: I, known: KnownFields, unknown: UnknownNames): I {
  let kept: [string, unknown][] | null = null;
  for (const name in element) {
    if (known.ofElement.has(name) || element[name] === null) continue;
    unknown.add(name);
    (kept ??= []).push([name, element[name]]);
  }
  if (element.session != null) nameUnknown(element.session, known.ofSession, unknown);
  // Entries and spreads make own members of every name, also of `__proto__`.
  return kept === null ? element : { ...element, attributes: { ...Object.fromEntries(kept), ...element.attributes } };
}

function nameUnknown(session: object, known: ReadonlySet<string>, unknown: UnknownNames): void {
  for (const name in session) {
    if (unknown.full) return;
    if (!known.has(name) && session[name as keyof object] !== null) unknown.add(`session.${name}`);
  }
}
