import { findProvider, type MatchLogic, type ModelInfo, type Provider } from '@pydantic/genai-prices';

/** The models of one provider, prepared for look-ups. */
interface ModelIndex {
  readonly models: readonly ModelInfo[];
  /** Place of the first model that has a name. */
  readonly byName: ReadonlyMap<string, number>;
  /** The other rules, in the order of their models. */
  readonly rules: readonly { readonly place: number; readonly matches: Rule }[];
}

type Rule = (name: string) => boolean;

const indexes = new WeakMap<Provider, ModelIndex>();

/**
 * The model that `calcPrice` of the library takes for a name at a provider. The library copies and searches all models of
 * the provider for each name, and a client may send any number of names.
 */
export function listedModel(provider: Provider, given: string): ModelInfo | undefined {
  const name = given.toLowerCase().trim();
  const dated = withWrittenDates(name);
  return modelOf(provider, name) ?? (dated === name ? undefined : modelOf(provider, dated));
}

/** A model of the provider itself, else of those whose models it offers, too. */
function modelOf(provider: Provider, name: string): ModelInfo | undefined {
  const own = find(provider, name);
  if (own !== undefined || provider.fallback_model_providers === undefined) return own;
  for (const providerId of provider.fallback_model_providers) {
    const other = findProvider({ providerId });
    const found = other === undefined ? undefined : modelOf(other, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first model that matches, as the library has it. */
function find(provider: Provider, name: string): ModelInfo | undefined {
  const { models, byName, rules } = indexOf(provider);
  const named = byName.get(name) ?? models.length;
  const matching = rules.find(({ place, matches }) => place >= named || matches(name))?.place ?? named;
  return models[Math.min(named, matching)];
}

function indexOf(provider: Provider): ModelIndex {
  const known = indexes.get(provider);
  if (known !== undefined) return known;
  const byName = new Map<string, number>();
  const rules: { place: number; matches: Rule }[] = [];
  for (const [place, { match }] of provider.models.entries())
    for (const one of 'or' in match ? match.or : [match]) {
      if (!('equals' in one)) rules.push({ place, matches: ruleOf(one) });
      else if (!byName.has(one.equals.toLowerCase())) byName.set(one.equals.toLowerCase(), place);
    }
  const index = { models: provider.models, byName, rules };
  indexes.set(provider, index);
  return index;
}

/** What the library makes of a rule, for names in lower case. */
function ruleOf(match: MatchLogic): Rule {
  if ('or' in match) return anyOf(match.or.map(ruleOf));
  if ('and' in match) return allOf(match.and.map(ruleOf));
  if ('regex' in match) {
    const expression = new RegExp(match.regex);
    return (name) => expression.test(name);
  }
  const [kind, text] = Object.entries(match)[0] as [string, string];
  const wanted = text.toLowerCase();
  if (kind === 'equals') return (name) => name === wanted;
  if (kind === 'starts_with') return (name) => name.startsWith(wanted);
  if (kind === 'ends_with') return (name) => name.endsWith(wanted);
  return (name) => name.includes(wanted);
}

const anyOf =
  (rules: readonly Rule[]): Rule =>
  (name) =>
    rules.some((matches) => matches(name));
const allOf =
  (rules: readonly Rule[]): Rule =>
  (name) =>
    rules.every((matches) => matches(name));

/** The name with dates such as `-20250131` as `-2025-01-31`: the library tries both. */
function withWrittenDates(name: string): string {
  return name.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, (written, year, month, day) => {
    const date = `${year}-${month}-${day}`;
    // The day may be none of the month.
    const read = new Date(`${date}T00:00:00Z`);
    return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date) ? `-${date}` : written;
  });
}
