import type { ScoreKind } from '../../engine/traces/model/score/score.js';
import type { ScoreDefinitionInput, ScoreDefinitionRead } from '../../features/scores/schema.js';

/** A definition as it is edited: numbers as they were typed, and one category a line, as no category has several. */
export interface DefinitionDraft {
  readonly kind: ScoreKind;
  readonly min: string;
  readonly max: string;
  readonly categories: string;
  readonly direction: '' | 'higher' | 'lower';
  readonly description: string;
}

/** @param definition null: a new one */
export function draftOf(definition: ScoreDefinitionRead | null): DefinitionDraft {
  const { kind = 'numeric', min, max, categories, direction, description } = definition ?? {};
  return {
    kind,
    min: String(min ?? ''),
    max: String(max ?? ''),
    categories: (categories ?? []).join('\n'),
    direction: direction ?? '',
    description: description ?? '',
  };
}

/** What the API takes; what does not belong to the kind is left out. */
export function definitionOf({
  kind,
  min,
  max,
  categories,
  direction,
  description,
}: DefinitionDraft): ScoreDefinitionInput {
  const listed = categories
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return {
    kind,
    ...(kind === 'numeric' && { min: boundIn(min), max: boundIn(max) }),
    categories: kind === 'categorical' && listed.length > 0 ? listed : null,
    direction: hasDirection(kind) && direction !== '' ? direction : null,
    description: description.trim() === '' ? null : description,
  };
}

/** Whether values of a kind can be better or worse. */
export function hasDirection(kind: ScoreKind): boolean {
  return kind === 'numeric' || kind === 'boolean';
}

/** A text that is no number stays one, whatever the type says: the API is to refuse it by name. */
function boundIn(text: string): number | null {
  if (text.trim() === '') return null;
  const bound = Number(text);
  return Number.isFinite(bound) ? bound : (text as unknown as number);
}
