import { METADATA } from './context-fields.js';
import { DEFAULT_KIND, KIND_RULES, USAGE_KIND, USAGE_RANK, type KindRule } from './kind.js';
import { MAPPING } from './mapping.js';
import type { FieldRule, Source } from './source.js';

/** What becomes of attributes, as tables in Markdown: fields and metadata, then kinds. */
export function mappingTables(): string {
  const fields = Object.values<FieldRule>(MAPPING).map(({ becomes, sources }) => [becomes, sourcesShown(sources)]);
  const kinds = KIND_RULES.map(({ attribute, shown }) => [code(attribute), kindsShown(shown)]);
  kinds.splice(USAGE_RANK, 0, ['model and token counts, by the table above', code(USAGE_KIND)]);
  return [
    'Of several that are there, the first one counts.',
    table(
      ['becomes', 'from'],
      [
        ...fields,
        ['tags of the span, its trace and its session, by their names', metadataShown(false)],
        ['tags of the span alone, by their names', metadataShown(true)],
      ],
    ),
    '## Look up kinds',
    'The first of these attributes that says a kind decides.',
    table(['attribute', 'kind: values'], [...kinds, ['none of these', code(DEFAULT_KIND)]]),
  ].join('\n\n');
}

function sourcesShown(sources: readonly Source[]): string {
  const parts = sources.map(sourceShown);
  // What comes from one attribute names it once.
  return parts
    .map(({ text, within }, i) =>
      within === null || within === parts[i + 1]?.within ? text : `${text} in ${code(within)}`,
    )
    .join(', ');
}

function sourceShown(source: Source): { readonly text: string; readonly within: string | null } {
  if (typeof source === 'object' && 'within' in source)
    return { text: 'member' in source ? code(source.member) : 'the sum of its parts', within: source.within };
  return { text: attributeShown(source), within: null };
}

function attributeShown(source: Exclude<Source, { readonly within: string }>): string {
  if (typeof source === 'string') return code(source);
  if ('json' in source) return code(source.json);
  if ('indexed' in source) return code(`${source.indexed}.N.*`);
  if ('each' in source) return code(`${source.each}.*`);
  if ('event' in source) return `${code(source.attribute)} of the event ${code(source.event)}`;
  return `the events ${Object.keys(source.messages).map(code).join(', ')}`;
}

function metadataShown(ofSpanAlone: boolean): string {
  return METADATA.filter(({ ofSpan = false }) => ofSpan === ofSpanAlone)
    .map((source) => ('within' in source ? `the members of ${code(source.within)}` : code(`${source.each}.*`)))
    .join(', ');
}

function kindsShown(kinds: KindRule['shown']): string {
  const other = kinds.filter(([kind, values]) => String(values) !== kind);
  const same = kinds.filter((each) => !other.includes(each)).map(([kind]) => code(kind));
  const told = other.map(
    ([kind, values]) => `${code(kind)}: ${typeof values === 'string' ? values : values.map(code).join(', ')}`,
  );
  return [...told, ...(same.length === 0 ? [] : [`by the same name: ${same.join(', ')}`])].join('; ');
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
