import type { SharedSpan } from '../../../../features/sharing/shared-traces.js';
import { NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Cost, Count, Figure, Took, When } from '../../parts/figures.js';
import { Kind, Status } from '../../parts/kind.js';
import { TextFormSwitch } from '../../parts/long-text.js';
import { Answered } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { request } from '../../state/api.js';
import { openDocument, type OpenDocument } from '../../state/documents.js';
import { place, setQuery, sharedBy } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import type { SpanDetailProps } from '../trace/trace-body.js';
import { Tags } from './tags.js';
import type { TraceParts } from './trace-parts.js';

/** Texts may hold much memory. */
const KEPT_MS = 30_000;

interface TabProps {
  readonly span: SharedSpan;
  readonly document: OpenDocument;
  readonly parts: TraceParts;
}

const TABS = [
  { name: 'messages', label: 'Messages', shows: Messages, needs: 'output_data' },
  { name: 'data', label: 'Data', shows: Data, needs: 'output_data' },
  { name: 'attributes', label: 'Attributes', shows: Attributes, needs: 'attributes' },
  { name: 'tags', label: 'Tags', shows: AllTags, needs: 'tags' },
] as const satisfies readonly { readonly needs: keyof SharedSpan; readonly [key: string]: unknown }[];

/** Shows one span of a shared trace, in as much as is shown of it. */
export function sharedSpanDetail(parts: TraceParts) {
  return (props: SpanDetailProps) => <Detail {...props} parts={parts} />;
}

function Detail({ id, onClose, parts }: SpanDetailProps & Pick<TabProps, 'parts'>) {
  const answer = useQuery({
    key: ['shared span', sharedBy, id],
    ask: async (signal) => {
      const bytes = await (await request(`/s/${sharedBy ?? ''}/spans/${id}`, { signal })).arrayBuffer();
      const span = JSON.parse(new TextDecoder().decode(bytes)) as SharedSpan;
      return { span, document: openDocument(bytes) };
    },
    keptMs: KEPT_MS,
    keep: false,
  });
  return (
    <section class="span-detail" aria-label="Span">
      <Answered answer={answer} rows={4}>
        {({ span, document }) => (
          <>
            <Head span={span} onClose={onClose} />
            {span.error_code !== undefined && <Failed span={span} parts={parts} />}
            <Sections span={span} document={document} parts={parts} />
          </>
        )}
      </Answered>
    </section>
  );
}

function Sections({ span, document, parts }: TabProps) {
  const tabs = TABS.filter(({ needs }) => span[needs] !== undefined);
  const [first] = tabs;
  if (first === undefined) return <p class="soft">The content of this span is not shared.</p>;
  const chosen = tabs.find(({ name }) => name === place.value.query.get('tab')) ?? first;
  return (
    <Tabs
      label="Span sections"
      tabs={tabs}
      chosen={chosen.name}
      onChoose={(tab) => setQuery({ span: span.id, tab: tab === first.name ? null : tab }, { replace: true })}
    >
      <chosen.shows key={`${span.id} ${chosen.name}`} span={span} document={document} parts={parts} />
    </Tabs>
  );
}

function Head({ span, onClose }: { readonly span: SharedSpan; readonly onClose: () => void }) {
  const { name, kind, has_error, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens } = span;
  return (
    <header class="stack">
      <div class="line apart span-title">
        <h2>
          <Kind of={kind} /> <bdi>{name}</bdi>{' '}
          <Status error={has_error} running={ended_at === null && duration_ms === null} />
        </h2>
        <Button look="quiet" icon="close" label="Close span (Escape)" onClick={onClose} />
      </div>
      <dl class="trace-figures">
        <Figure label="Started">
          <When at={started_at} />
        </Figure>
        <Figure label="Duration">
          <Took ms={duration_ms} />
        </Figure>
        {cost !== undefined && (
          <>
            <Figure label="Cost">
              <Cost of={cost} />
            </Figure>
            <Figure label="Tokens in">
              <Count of={input_tokens} />
            </Figure>
            <Figure label="out">
              <Count of={output_tokens} />
            </Figure>
          </>
        )}
        <Figure label="Model">
          <bdi>{span.model ?? NOTHING}</bdi>
        </Figure>
      </dl>
    </header>
  );
}

function Failed({ span, parts: { SpanError } }: Pick<TabProps, 'span' | 'parts'>) {
  const { has_error, error_code, error_message, error_stack, code_filepath, code_lineno } = span;
  const said = {
    ...{ has_error, error_code: error_code ?? null, error_message: error_message ?? null },
    ...{ error_stack: error_stack ?? null, code_filepath: code_filepath ?? null, code_lineno: code_lineno ?? null },
  };
  return <SpanError span={said} />;
}

function Messages({ span: { images }, document, parts: { ConversationIn, Image } }: TabProps) {
  return (
    <div class="stack">
      <div class="line">
        <TextFormSwitch />
      </div>
      <ConversationIn document={document} input="input_data" output="output_data" />
      {images.length > 0 && (
        <section class="stack">
          <h3>Images</h3>
          <ul class="span-images">
            {images.map(({ url, label, type }) => (
              <li key={url}>
                <Image url={url} label={label ?? type} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Data({ document, parts: { JsonIn } }: TabProps) {
  return (
    <div class="stack">
      <h3>Input</h3>
      <JsonIn document={document} name="input_data" label="Input" />
      <h3>Output</h3>
      <JsonIn document={document} name="output_data" label="Output" />
    </div>
  );
}

function Attributes({ document, parts: { JsonIn } }: TabProps) {
  return <JsonIn document={document} name="attributes" label="Attributes" />;
}

function AllTags({ span }: TabProps) {
  const groups = [
    ['Tags', span.tags],
    ['Trace tags', span.trace_tags],
    ['Session tags', span.session_tags],
  ] as const;
  const filled = groups.filter(([, tags]) => tags !== undefined && Object.keys(tags).length > 0);
  if (filled.length === 0) return <p class="soft">No tags.</p>;
  return (
    <div class="stack">
      {filled.map(([title, tags]) => (
        <section key={title} class="stack">
          <h3>{title}</h3>
          <Tags of={tags ?? {}} />
        </section>
      ))}
    </div>
  );
}
