import { KIND } from '../../../../engine/schema/kind.js';
import { tagsOf } from '../../../model/judge-draft.js';
import { Field } from '../../parts/field.js';
import { TokenField } from '../../parts/token-field.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import type { FieldsProps } from './fields-props.js';

/** Values that spans of the last seven days have, the most frequent first. */
function useValues(field: string): readonly string[] {
  const query = { field };
  const { data } = useQuery({
    key: ['/spans', 'facets', query],
    ask: (signal) => call('GET /spans:facets', { query, signal }),
  });
  return data?.values.flatMap(({ value }) => (value === '' ? [] : [String(value)])) ?? [];
}

/** Which new spans a judge takes: the filters of the list of spans that a judge has, under their names there. */
export function FilterFields({ draft, change, wrong }: FieldsProps) {
  const [kinds, names, slugs, tagKeys] = [
    useValues('kind'),
    useValues('name'),
    useValues('prompt_slug'),
    useValues('tags'),
  ];
  const asList = new URLSearchParams({ range: '24h' });
  const [kind] = draft.kinds;
  if (draft.kinds.length === 1 && kind !== undefined) asList.set('span_kind', kind);
  for (const name of draft.names) asList.append('names', name);
  for (const [key, value] of Object.entries(tagsOf(draft.tags))) asList.set(`tags.${key}`, value);
  if (draft.prompt_slug !== '') asList.set('prompt_slug', draft.prompt_slug);
  return (
    <fieldset class="stack">
      <legend>Span filters</legend>
      {draft.subject !== 'span' && (
        <p class="soft">A {draft.subject} is evaluated if one of its spans matches all of these.</p>
      )}
      <TokenField
        label="Kinds"
        hint="Match any; leave empty for all. llm is a model call; the AI SDK and agents wrap it in another span"
        wrong={null}
        values={draft.kinds}
        suggested={kinds}
        refuse={(kind) => (KIND.test(kind) ? null : 'Kinds may contain a-z, 0-9 and underscores')}
        onChange={(chosen) => change({ kinds: chosen })}
      />
      <TokenField
        label="Names"
        hint="Match any; leave empty for all"
        values={draft.names}
        suggested={names}
        onChange={(chosen) => change({ names: chosen })}
      />
      <TokenField
        label="Tags"
        hint="Match all, each as key=value"
        values={draft.tags}
        suggested={tagKeys.map((key) => `${key}=`)}
        refuse={(tag) => (/^[^=]+=/.test(tag) ? null : 'Use key=value')}
        onChange={(chosen) => change({ tags: chosen })}
      />
      <Field
        label="Prompt"
        hint="Only completions of the prompt with this slug; leave empty for any span"
        wrong={wrong['filters'] ?? null}
      >
        <input
          class="input"
          list="judge-prompts"
          value={draft.prompt_slug}
          autocomplete="off"
          onInput={(event) => change({ prompt_slug: event.currentTarget.value })}
        />
      </Field>
      <datalist id="judge-prompts">
        {slugs.map((slug) => (
          <option key={slug} value={slug} />
        ))}
      </datalist>
      {draft.kinds.length < 2 && (
        <a href={hrefOf({ screen: 'spans', query: asList })}>Matching spans in the last 24 hours</a>
      )}
    </fieldset>
  );
}
