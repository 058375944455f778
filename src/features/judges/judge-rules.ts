import type { Issue } from '../../engine/errors.js';
import { normalizeTags, normalizeText } from '../../engine/schema/normalize.js';
import type { Criterion, JudgeSettings } from './judge.js';
import type { JudgeFilters } from '../../engine/traces/model/judged/filters.js';
import type { JudgeInput, JudgePatch } from './schema.js';
import { SETTINGS, settingsBy } from './settings.js';

/** Fields of a judge as a client sent them, as far as they fit the schema. */
export type Stated = Partial<JudgeInput> & Partial<JudgePatch>;

/** Settings of a scale that a binary judge has none of. */
const NO_SCALE = { score_min: null, score_max: null, pass_threshold: null };

/** Settings of a judge with the fields that were sent; the others stay as they were, or have their defaults. */
export function settingsOf(stated: Stated, before: JudgeSettings | null): JudgeSettings {
  const sent = stated.evaluation_type === 'binary' ? { ...NO_SCALE, ...stated } : stated;
  const settings = settingsBy((name) => {
    const value = sent[name];
    if (value === undefined && before !== null) return before[name];
    return value == null ? SETTINGS[name].standard : stored(value);
  });
  const { criteria, filters } = sent;
  return {
    ...settings,
    // It has no default: null leaves it as it is.
    task_slug: sent.task_slug ?? before?.task_slug ?? '',
    ...(criteria && { criteria: criteria.map(toCriterion) }),
    ...(filters && { filters: toFilters(filters) }),
    ...(sent.context_kinds && { context_kinds: [...new Set(sent.context_kinds)] }),
  };
}

function stored(value: unknown): unknown {
  return typeof value === 'string' ? normalizeText(value) : value;
}

function toCriterion({ key, label, description }: NonNullable<NonNullable<Stated['criteria']>[number]>): Criterion {
  return { key, label: normalizeText(label ?? key), description: normalizeText(description ?? '') };
}

function toFilters({ kinds, names, tags, prompt_slug }: NonNullable<Stated['filters']>): JudgeFilters {
  return {
    kinds: [...new Set(kinds ?? [])],
    names: [...new Set((names ?? []).map(normalizeText))],
    tags: normalizeTags(tags),
    prompt_slug: prompt_slug ?? null,
  };
}

type Scale = Pick<JudgeSettings, 'evaluation_type' | 'score_min' | 'score_max' | 'pass_threshold'>;

type Shown = Pick<JudgeSettings, 'subject' | 'quiet_seconds' | 'context_tokens' | 'context_kinds'>;

/**
 * Issues between the fields of a judge, as they would be.
 * @param before the judge that is changed; null: it is a new one
 * @param isMisfit whether a field was sent that does not fit: no rule is checked that it takes part in
 */
export function settingIssues(
  settings: Scale & Shown & Pick<JudgeSettings, 'criteria'>,
  before: Pick<JudgeSettings, 'subject'> | null,
  isMisfit: (name: string) => boolean,
): Issue[] {
  return [
    ...(isMisfit('subject') ? [] : subjectIssues(settings, before)),
    ...(['evaluation_type', ...SCALE].some(isMisfit) ? [] : scaleIssues(settings)),
    ...repeatedKeys(settings.criteria),
  ];
}

function subjectIssues({ subject, ...shown }: Shown, before: Pick<JudgeSettings, 'subject'> | null): Issue[] {
  if (before !== null && subject !== before.subject)
    return [{ pointer: '/subject', detail: `cannot be changed from ${before.subject}: create another judge` }];
  if (subject === 'session' && shown.context_kinds.length > 0)
    return [
      { pointer: '/context_kinds', detail: 'applies only to judges of traces: of a session, its turns are shown' },
    ];
  if (subject !== 'span') return [];
  const given = (['quiet_seconds', 'context_tokens'] as const).filter((name) => shown[name] !== null);
  return [...given, ...(shown.context_kinds.length > 0 ? ['context_kinds'] : [])].map((name) => ({
    pointer: `/${name}`,
    detail: 'applies only to judges of traces or sessions; this judge evaluates spans',
  }));
}

function scaleIssues(scale: Scale): Issue[] {
  return scale.evaluation_type === 'scored' ? scoredIssues(scale) : binaryIssues(scale);
}

const SCALE = ['score_min', 'score_max', 'pass_threshold'] as const;

function scoredIssues({ score_min, score_max, pass_threshold, ...rest }: Scale): Issue[] {
  const scale: Scale = { ...rest, score_min, score_max, pass_threshold };
  const missing = SCALE.filter((name) => scale[name] === null).map((name) => ({
    pointer: `/${name}`,
    detail: 'is required for a scored judge',
  }));
  const issues: Issue[] = [...missing];
  if (score_min !== null && score_max !== null && score_min >= score_max)
    issues.push({ pointer: '/score_max', detail: 'must be greater than score_min' });
  else if (
    pass_threshold !== null &&
    (pass_threshold < (score_min ?? -Infinity) || pass_threshold > (score_max ?? Infinity))
  )
    issues.push({ pointer: '/pass_threshold', detail: 'must be from score_min to score_max' });
  return issues;
}

function binaryIssues(scale: Scale): Issue[] {
  return SCALE.filter((name) => scale[name] !== null).map((name) => ({
    pointer: `/${name}`,
    detail: 'applies only to scored judges; this judge is binary',
  }));
}

function repeatedKeys(criteria: readonly Criterion[]): Issue[] {
  return criteria.flatMap(({ key }, index) =>
    criteria.findIndex((other) => other.key === key) < index
      ? [{ pointer: `/criteria/${index}/key`, detail: 'must be unique within the judge' }]
      : [],
  );
}

const MAX_SLUG = 100;

/** Slugs for the task prompt of a judge of this name: of its ASCII letters and digits, then the same with numbers. */
export function* taskSlugs(name: string): Generator<string> {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG);
  const slug = plain === '' ? 'judge' : plain;
  yield slug;
  for (let number = 2; ; number += 1) yield `${slug}-${number}`;
}
