import { spanList } from '../../../../engine/traces/model/list/definitions.js';
import { NOTHING } from '../../../model/format.js';
import { JsonIn } from '../../parts/json-view.js';
import { Answered } from '../../parts/states.js';
import { hrefOf } from '../../state/location.js';
import type { SpanHeadRead } from './span-head.js';
import { useSpanTexts } from './span-texts.js';
import { TagChips } from './tag-chips.js';

/** Said elsewhere in this view. */
const ELSEWHERE = new Set([
  'input_data',
  'output_data',
  'attributes',
  'tags',
  'trace_tags',
  'session_tags',
  'error_stack',
]);

/** Every field of the span, each with what else has the same value; its tags and attributes. */
export function AttributesTab({ span }: { readonly span: SpanHeadRead }) {
  const texts = useSpanTexts(span);
  const tags = [
    ['Tags', span.tags, 'spans'],
    ['Trace tags', span.trace_tags, 'traces'],
    ['Session tags', span.session_tags, 'traces'],
  ] as const;
  return (
    <div class="stack">
      {tags.map(
        ([title, all, screen]) =>
          Object.keys(all).length > 0 && (
            <section key={title} class="stack">
              <h3>{title}</h3>
              <TagChips tags={all} screen={screen} />
            </section>
          ),
      )}
      <h3>Attributes</h3>
      <Answered answer={texts}>
        {(document) => <JsonIn document={document} name="attributes" label="Attributes" />}
      </Answered>
      <h3>Fields</h3>
      <dl class="pairs">
        {Object.entries(spanList.fields)
          .filter(([name]) => !ELSEWHERE.has(name))
          .map(([name, { description }]) => (
            <>
              <dt title={description}>
                <code>{name}</code>
              </dt>
              <dd>
                <FieldValue name={name} value={(span as Readonly<Record<string, unknown>>)[name]} />
              </dd>
            </>
          ))}
      </dl>
    </div>
  );
}

function FieldValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === null || value === undefined) return <>{NOTHING}</>;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const filter = spanList.filters.find(({ field, comparison }) => field === name && !/^(at|unpriced)/.test(comparison));
  if (filter === undefined || text.length > 200) return <bdi>{text}</bdi>;
  // A comma would separate two values.
  const sent = filter.comparison.startsWith('any') ? text.replaceAll('%', '%25').replaceAll(',', '%2C') : text;
  return (
    <a
      title="Spans with the same value"
      href={hrefOf({ screen: 'spans', query: { [filter.parameter]: sent, range: 'all' } })}
    >
      <bdi>{text}</bdi>
    </a>
  );
}
