import { UUID, uuidOf } from '../../../schema/ids.js';
import { normalizeText } from '../../../schema/normalize.js';
import type { ExperimentMark } from './results.js';

/* Which result of an experiment a span is: clients say so in its attributes, as objects in each other or with dotted names. */

type Attributes = Readonly<Record<string, unknown>>;

/** In characters. */
export const LONGEST_ROW_ID = 256;
/** As often as an experiment may try a row: more would make results that nothing else has room for. */
export const MAX_REPETITION = 32;

/** An attribute: the names by which an object may lead to it, each with the names that are left within. */
interface Path {
  readonly steps: readonly (readonly [name: string, rest: Path | null])[];
}

/** The dotted names of what is read. */
const NAMES = {
  experiment: 'spanhouse.experiment.id',
  row: 'spanhouse.experiment.row_id',
  repetition: 'spanhouse.experiment.repetition',
  trace: 'spanhouse.experiment.trace_id',
  langfuseExperiment: 'langfuse.experiment.id',
  langfuseItem: 'langfuse.experiment.item.id',
  langfuseResult: 'langfuse.experiment.item.root_observation_id',
} as const;

/** The attributes that marks are read from, by their dotted names. */
export const MARK_ATTRIBUTES: ReadonlySet<string> = new Set(Object.values(NAMES));
/** The dotted names of objects in which these attributes may lie. */
export const MARK_PARENTS: ReadonlySet<string> = new Set(
  Object.values(NAMES).flatMap((name) => Array.from(name.matchAll(/\./g), ({ index }) => name.slice(0, index))),
);

const EXPERIMENT = pathTo(NAMES.experiment);
const ROW = pathTo(NAMES.row);
const REPETITION = pathTo(NAMES.repetition);
const TRACE = pathTo(NAMES.trace);
const LANGFUSE_EXPERIMENT = pathTo(NAMES.langfuseExperiment);
const LANGFUSE_ITEM = pathTo(NAMES.langfuseItem);
/** Clients of Langfuse mark every span that is made for a row, and say in each which of them is the result. */
const LANGFUSE_RESULT = pathTo(NAMES.langfuseResult);

/** The mark of a span by its attributes; null: it has none, or one that is malformed. */
export function experimentMarkOf(attributes: Attributes, spanId: string): ExperimentMark | null {
  const id = valueAt(attributes, EXPERIMENT) ?? valueAt(attributes, LANGFUSE_EXPERIMENT);
  if (id === undefined) return null;
  const experiment = uuid(id);
  const row = rowId(valueAt(attributes, ROW) ?? valueAt(attributes, LANGFUSE_ITEM));
  const repetition = repetitionOf(valueAt(attributes, REPETITION) ?? 1);
  const madeIn = traceId(valueAt(attributes, TRACE));
  if (experiment === undefined || row === undefined || repetition === undefined || madeIn === undefined) return null;
  const result = valueAt(attributes, LANGFUSE_RESULT);
  const isStep = typeof result === 'string' && uuidOf(result) !== spanId;
  return { experiment_id: experiment, row_id: isStep ? null : row, repetition, made_in: madeIn };
}

function uuid(said: unknown): string | undefined {
  const lower = typeof said === 'string' ? said.toLowerCase() : '';
  return UUID.test(lower) ? lower : undefined;
}

/** @returns null where nothing is said; undefined: it is malformed, as of the others */
function rowId(said: unknown): string | null | undefined {
  if (said === undefined) return null;
  if (typeof said !== 'string' || said === '') return undefined;
  if (said.length > LONGEST_ROW_ID && charactersOf(said) > LONGEST_ROW_ID) return undefined;
  return normalizeText(said);
}

/** As schemas count them: two units may be one. */
function charactersOf(text: string): number {
  return text.length > LONGEST_ROW_ID * 2 ? text.length : Array.from(text).length;
}

function repetitionOf(said: unknown): number | undefined {
  const number = typeof said === 'string' && /^\d{1,10}$/.test(said) ? Number(said) : said;
  return typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= MAX_REPETITION
    ? number
    : undefined;
}

function traceId(said: unknown): string | null | undefined {
  if (said === undefined) return null;
  return typeof said === 'string' ? uuid(uuidOf(said)) : undefined;
}

/** Looks for the whole name first, then for ever shorter beginnings of it, as what lies within may have dotted names, too. */
function pathTo(name: string): Path {
  const names = name.split('.');
  const beginnings = names.map((_name, index) => names.length - index);
  return {
    steps: beginnings.map((length) => [
      names.slice(0, length).join('.'),
      length === names.length ? null : pathTo(names.slice(length).join('.')),
    ]),
  };
}

/** What an attribute says; null counts as nothing. */
function valueAt(holder: Attributes, { steps }: Path): unknown {
  for (const [name, rest] of steps) {
    const found = holder[name];
    if (found === undefined || found === null) continue;
    if (rest === null) return found;
    if (typeof found !== 'object' || Array.isArray(found)) continue;
    const within = valueAt(found as Attributes, rest);
    if (within !== undefined) return within;
  }
  return undefined;
}
