import type { Micros } from '../../timestamp.js';
import { versionTime } from '../write/version-clock.js';
import { identifier, join, listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { written } from '../read/visibility.js';
import { LABELS, type Label, type ShapedSpan, type TextEnds, type Texts, type WantedText } from './outline/shapes.js';
import { MAX_NAME } from './outline/words.js';

/** A span without its texts, and the stored row that counts. */
export interface StoredShape extends ShapedSpan {
  readonly version: string;
  readonly arrived_at: Micros;
}

/** The texts of a span, empty where there is none. */
const TEXTS: Readonly<Record<Label, Sql>> = {
  input: sql`ifNull(input_data, '')`,
  output: sql`ifNull(output_data, '')`,
  error: sql`arrayStringConcat(arrayFilter(part -> part != '', [ifNull(error_code, ''), ifNull(error_message, '')]), ': ')`,
};

/** The columns of `ShapeRow`. @param kinds whose inputs and outputs are to be shown; empty: all */
export function shapeColumns(kinds: readonly string[]): Sql {
  const isShown = kinds.length === 0 ? sql`1` : sql`kind IN ${value(kinds, 'Array(String)')}`;
  const sizes = LABELS.map((label) => {
    const size = sql`[lengthUTF8(${TEXTS[label]}), countSubstrings(${TEXTS[label]}, '\\n')]`;
    return label === 'error' ? size : sql`if(${isShown}, ${size}, [0, 0])`;
  });
  return sql`toString(id) AS span, toString(trace_id) AS trace, toString(parent_span_id) AS parent, leftUTF8(name, ${value(10 * MAX_NAME, 'UInt64')}) AS named,
  kind AS of_kind, toString(toUnixTimestamp64Micro(started_at)) AS started, duration_ms AS duration, has_error AS failed, toString(ver) AS version, toString(${written}) AS arrived,
  arrayMap(size -> toString(size), arrayConcat(${join(sizes, ', ')})) AS sizes`;
}

export interface ShapeRow {
  readonly span: string;
  readonly trace: string;
  readonly parent: string | null;
  readonly named: string;
  readonly of_kind: string;
  readonly started: string;
  readonly duration: number | null;
  readonly failed: number;
  readonly version: string;
  readonly arrived: string;
  /** Length and line breaks of each text, in the order of `LABELS`; 0: none, or not shown. */
  readonly sizes: readonly string[];
}

export function toShape(row: ShapeRow): StoredShape {
  const sizeAt = (place: number) => {
    const [length = 0, breaks = 0] = row.sizes.slice(2 * place, 2 * place + 2).map(Number);
    return length === 0 ? null : { length, breaks };
  };
  return {
    id: row.span,
    trace_id: row.trace,
    parent: row.parent,
    name: row.named,
    kind: row.of_kind,
    started_at: Number(row.started),
    duration_ms: row.duration,
    failed: Boolean(row.failed),
    texts: { input: sizeAt(0), output: sizeAt(1), error: sizeAt(2) },
    version: row.version,
    arrived_at: versionTime(Number(row.arrived)),
  };
}

/** Rows of `spans` by where they stand: found by the table's order, without a search. */
export function placed(spans: readonly Pick<StoredShape, 'started_at' | 'version'>[]): Sql {
  const times = [...new Set(spans.map(({ started_at }) => String(started_at)))];
  const versions = spans.map(({ version }) => version);
  return sql`started_at IN (SELECT fromUnixTimestamp64Micro(arrayJoin(${listOf('Int64', times)}), 'UTC')) AND ver IN ${listOf('UInt64', versions)}`;
}

/** A row of `spans` with the ends of texts, each as long as it may be shown. */
export interface TextRow {
  readonly version: string;
  /** Head and tail of each text, in the order of `LABELS`. */
  readonly ends: readonly string[];
}

/** Reads `TextRow`s. @param wanted by the versions of their spans @param where these stand */
export function textsOf(wanted: ReadonlyMap<string, readonly WantedText[]>, where: Sql): Sql {
  const most = (label: Label) =>
    [...wanted.values()].map((texts) => String(texts.find((text) => text.label === label)?.characters ?? 0));
  const characters = LABELS.map(
    (label) => sql`transform(ver, versions, ${listOf('UInt64', most(label))}, 0) AS ${identifier(`most_${label}`)}`,
  );
  const ends = LABELS.map((label) => {
    const [text, length] = [TEXTS[label], identifier(`most_${label}`)];
    const tail = sql`if(lengthUTF8(${text}) <= ${length}, '', rightUTF8(${text}, intDiv(${length}, 3)))`;
    return sql`leftUTF8(${text}, ${length}), ${tail}`;
  });
  return sql`WITH ${listOf('UInt64', [...wanted.keys()])} AS versions, ${join(characters, ', ')}
SELECT toString(ver) AS version, [${join(ends, ', ')}] AS ends
FROM spans WHERE ${where}`;
}

/** @param wanted by the versions of their spans */
export function toTexts(rows: readonly TextRow[], wanted: ReadonlyMap<string, readonly WantedText[]>): Texts {
  const texts = new Map<string, Partial<Record<Label, TextEnds>>>();
  for (const { version, ends } of rows)
    for (const { span, label } of wanted.get(version) ?? []) {
      const place = 2 * LABELS.indexOf(label);
      const [head = '', tail = ''] = ends.slice(place, place + 2);
      texts.set(span.id, { ...texts.get(span.id), [label]: { head, tail } });
    }
  return texts;
}
