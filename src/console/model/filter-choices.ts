import { scoreOf } from '../../engine/traces/model/list/columns.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import { count } from './format.js';
import { propertiesOf, scoreProperty, tagProperty, USER_TAG, type Condition, type Property } from './list-query.js';

/** A value that objects have, and how many have it. */
export interface Suggestion {
  readonly value: string;
  readonly count: number;
}

/** Values of a property that begin with a text; without a property, keys of tags. */
export type Suggest = (property: Property | null, text: string, signal: AbortSignal) => Promise<readonly Suggestion[]>;

/** What the filter bar offers: a property, of which a value is asked next, or a condition. */
export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly note?: string;
  readonly property: Property;
  readonly condition: Condition | null;
  /** Whether it is what was entered, taken as it is. */
  readonly typed: boolean;
}

/** What people filter by most, in this order: it stands before tags, and these before all else. */
const MOST_USED = ['names', `tags.${USER_TAG}`, 'span_kind', 'models', 'has_error'];

const TAG = /^([^=\s]+)=(.+)$/s;

/** @param scores the scores that the project has */
export function optionsFor(
  list: ListDefinition,
  property: Property | null,
  text: string,
  suggested: readonly Suggestion[],
  scores: readonly Property[] = [],
): Choice[] {
  if (property !== null) return valueChoices(property, text, suggested);
  return propertyChoices([...propertiesOf(list), ...scores], text, suggested);
}

function propertyChoices(all: readonly Property[], text: string, tagKeys: readonly Suggestion[]): Choice[] {
  const asked = text.trim().toLowerCase();
  const counts = new Map(tagKeys.map(({ value, count }) => [value, count]));
  const fields = [...all, tagProperty(USER_TAG)].filter(
    ({ words, parameter }) => words.toLowerCase().includes(asked) || parameter.includes(asked),
  );
  const used = MOST_USED.flatMap((parameter) => fields.filter((property) => property.parameter === parameter));
  const isScore = ({ parameter }: Property) => scoreOf(parameter) !== null;
  const rest = fields.filter((property) => !used.includes(property) && !isScore(property));
  const tags = tagKeys.filter(({ value }) => value !== USER_TAG && value.toLowerCase().includes(asked));
  return [
    ...typedChoice(all, text.trim()),
    ...used.map((property) => choice(property, isUser(property) ? { count: counts.get(USER_TAG) } : {})),
    ...tags.map(({ value, count }) => choice(tagProperty(value), { count })),
    ...[...fields.filter(isScore), ...rest].map((property) => choice(property)),
  ];
}

const isUser = ({ parameter }: Property) => parameter === `tags.${USER_TAG}`;

/** What somebody means who enters a text without choosing a field. */
function typedChoice(all: readonly Property[], text: string): Choice[] {
  if (text === '') return [];
  const [, key = '', value = ''] = TAG.exec(text) ?? [];
  const search = all.find(({ parameter }) => parameter === 'q');
  if (key !== '') {
    const score = scoreOf(key);
    const property =
      all.find(({ parameter }) => parameter === key) ??
      (score === null ? tagProperty(key.replace(/^tags\./, '')) : scoreProperty(score));
    return [choice(property, { value, typed: true })];
  }
  return search === undefined ? [] : [choice(search, { value: text, typed: true })];
}

function valueChoices(property: Property, text: string, suggested: readonly Suggestion[]): Choice[] {
  const asked = text.toLowerCase();
  const known = (property.values ?? []).filter((value) => value.includes(asked));
  const counts = new Map(suggested.map(({ value, count }) => [value, count]));
  const values = [...new Set([...rangesFrom(property, text), ...known, ...counts.keys()])];
  const typed = text !== '' && !values.includes(text);
  return [
    ...(typed ? [choice(property, { value: text, typed })] : []),
    ...values.map((value) => choice(property, { value, count: counts.get(value), typed: value === text })),
  ];
}

/** From a number that is typed on, or up to it. */
function rangesFrom({ hasRanges = false }: Property, text: string): string[] {
  const number = text.trim();
  return hasRanges && /^[+-]?(\d+(\.\d+)?|\.\d+)$/.test(number) ? [`${number}..`, `..${number}`] : [];
}

interface About {
  readonly value?: string;
  readonly count?: number | undefined;
  readonly typed?: boolean;
}

function choice(property: Property, { value, count: times, typed = false }: About = {}): Choice {
  const condition = value === undefined ? null : { ...property, value };
  return {
    key: `${property.parameter}\n${value ?? ''}`,
    label: value === undefined ? property.words : typed ? `${property.words} ${value}` : value,
    ...(times !== undefined && { note: count(times) }),
    property,
    condition,
    typed,
  };
}
