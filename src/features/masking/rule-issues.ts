import type { Issue } from '../../engine/errors.js';
import { readPath } from './paths.js';
import { isKept } from './kept-attributes.js';
import { expressionFlaw, type Measured } from './patterns/expression.js';
import { isCountry } from './patterns/phone.js';
import type { MaskingRule } from './rule.js';
import type { MaskingRuleInput } from './schema.js';

/** Rules as they are kept. */
export function rulesOf(inputs: readonly MaskingRuleInput[]): MaskingRule[] {
  return inputs.map(({ name, type, action, expression, path, countries }) => ({
    name: name ?? type,
    type,
    action: action ?? 'replace',
    expression: expression ?? null,
    path: path ?? null,
    countries: countries ?? null,
  }));
}

/** What is wrong with rules that no schema says. */
export function ruleIssues(rules: readonly MaskingRule[]): Issue[] {
  const names = new Set<string>();
  const measured = { ms: 0 };
  return rules.flatMap((rule, index) => {
    const isTwice = names.has(rule.name);
    names.add(rule.name);
    const issues = [
      ...(isTwice ? [{ pointer: '/name', detail: 'is the name of another rule' }] : []),
      ...flaws(rule, measured),
    ];
    return issues.map(({ pointer, detail }) => ({ pointer: `/rules/${index}${pointer}`, detail }));
  });
}

function flaws({ type, expression, path, countries }: MaskingRule, measured: Measured): Issue[] {
  const issues = [
    ...belongs('expression', expression !== null, type === 'expression', true),
    ...belongs('path', path !== null, type === 'path', true),
    ...belongs('countries', countries !== null, type === 'phone', false),
  ];
  if (issues.length > 0) return issues;
  const flaw = expression !== null ? expressionFlaw(expression, measured) : path !== null ? pathFlaw(path) : null;
  if (flaw !== null) return [{ pointer: `/${type}`, detail: flaw }];
  return (countries ?? []).flatMap((country, index) =>
    isCountry(country)
      ? []
      : [{ pointer: `/countries/${index}`, detail: 'must be a country with a known numbering plan' }],
  );
}

function belongs(field: string, isThere: boolean, isOfType: boolean, isRequired: boolean): Issue[] {
  if (isThere && !isOfType) return [{ pointer: `/${field}`, detail: 'is for rules of another type' }];
  return isOfType && isRequired && !isThere ? [{ pointer: `/${field}`, detail: 'is required for this type' }] : [];
}

const FIELDS = ['input_data', 'output_data', 'attributes'];

function pathFlaw(path: string): string | null {
  const steps = readPath(path);
  if (typeof steps === 'string') return steps;
  const [first, second] = steps;
  if (first === undefined || first.deep) return null;
  const field = first.key;
  if (typeof field !== 'string' || !FIELDS.includes(field))
    return 'must begin with $.input_data, $.output_data, $.attributes, or with $.. and a name';
  if (field !== 'attributes') return null;
  if (second === undefined) return 'must name an attribute, such as $.attributes.password';
  const isOfFigures = typeof second.key === 'string' && !second.deep && isKept(null, second.key, 'a');
  return isOfFigures ? `must not name ${second.key}: costs, prompts and experiments are known by it` : null;
}
