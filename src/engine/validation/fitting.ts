import { MAX_ISSUES, type Issue } from '../errors.js';
import { invalid, type Validator } from './validation.js';

/** A body whose fields were checked one by one, so that rules between them can be checked although others do not fit. */
export interface Fitting<T> {
  /** The fields that fit the schema. */
  readonly values: Partial<T>;
  /** Whether a field is there that does not fit, or misses in spite of being required. */
  isMisfit(name: string): boolean;
  /**
   * The whole body, when nothing is wrong with it.
   * @param more broken rules that no schema can say; those about misfits, of which enough is said, do not count
   * @throws DomainError `invalid` with every issue found (at most 100)
   */
  require(more: readonly Issue[]): T;
}

/** @throws DomainError `invalid` when there is no telling which fields fit */
export function fitting<T>(validator: Validator<T>, body: unknown): Fitting<T> {
  const issues = validator.issues(body);
  // An issue of the whole: it is no object at all, or has too many members. Beyond the limit, fields were not checked.
  if (issues.length >= MAX_ISSUES || issues.some(({ pointer }) => pointer === '')) throw invalid(issues);
  const misfits = misfitsOf(issues, '');
  const isMisfit = (name: string) => misfits.has(name);
  return {
    values: fieldsThatFit<T>(body, '', issues),
    isMisfit,
    require(more) {
      const all = [...issues, ...more.filter((issue) => !isMisfit(fieldOf(issue, '')))];
      if (all.length > 0) throw invalid(all);
      return body as T;
    },
  };
}

/**
 * The fields of an object that none of its issues is about; of anything else, none.
 * @param pointer where the object stands @param issues all of it
 */
export function fieldsThatFit<T>(value: unknown, pointer: string, issues: readonly Issue[]): Partial<T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const misfits = misfitsOf(issues, pointer);
  const fields = Object.entries(value).filter(([name]) => !misfits.has(name));
  return Object.fromEntries(fields) as Partial<T>;
}

function misfitsOf(issues: readonly Issue[], pointer: string): ReadonlySet<string> {
  return new Set(issues.map((issue) => fieldOf(issue, pointer)));
}

/** Name of the field of the object at the pointer that an issue is about; empty: it is about the whole. */
function fieldOf(issue: Issue, pointer: string): string {
  return issue.pointer.slice(pointer.length).split('/', 2)[1] ?? '';
}
