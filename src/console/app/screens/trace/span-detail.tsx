import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { spanFields } from '../../../../engine/traces/model/list/fields.js';
import { NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Cost, Count, Took, When } from '../../parts/figures.js';
import { Kind, Status } from '../../parts/kind.js';
import { Answered, Empty } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { call } from '../../state/api.js';
import { useKeys } from '../../state/keys.js';
import { place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { AttributesTab } from './attributes-tab.js';
import { CostDialog } from './cost-dialog.js';
import { DataTab } from './data-tab.js';
import { EvaluationsTab } from './evaluations-tab.js';
import { MessagesTab } from './messages-tab.js';
import { RawTab } from './raw-tab.js';
import { SpanError } from './span-error.js';
import type { SpanHeadRead } from './span-head.js';
const LARGE = new Set(['input_data', 'output_data', 'attributes']);
const SMALL_FIELDS = Object.keys(spanFields).filter((name) => !LARGE.has(name));

const TABS = [
  { name: 'messages', label: 'Messages', shows: MessagesTab },
  { name: 'data', label: 'Data', shows: DataTab },
  { name: 'attributes', label: 'Attributes', shows: AttributesTab },
  { name: 'evaluations', label: 'Evaluations', shows: EvaluationsTab },
  { name: 'raw', label: 'Raw', shows: RawTab },
] as const;

interface SpanDetailProps {
  readonly traceId: string;
  readonly id: string;
  readonly onClose: () => void;
}

/** One span in full. */
export function SpanDetail({ traceId, id, onClose }: SpanDetailProps) {
  const answer = useQuery({
    key: ['/spans', traceId, id, 'head'],
    ask: (signal) =>
      call('GET /spans', { query: { id, trace_id: traceId, fields: SMALL_FIELDS.join(','), limit: 1 }, signal }),
    keep: false,
  });
  const chosen = TABS.find(({ name }) => name === place.value.query.get('tab')) ?? TABS[0];
  const choose = (name: string) => setQuery({ tab: name === TABS[0].name ? null : name }, { replace: true });
  useKeys(
    TABS.map(({ name, label }, index) => ({ keys: String(index + 1), does: label, run: () => choose(name) })),
    [],
  );
  return (
    <section class="span-detail" aria-label="Span">
      <Answered answer={answer} rows={4}>
        {([span]) =>
          span === undefined ? (
            <Empty title="Span not found">It was deleted or replaced in another trace.</Empty>
          ) : (
            <>
              <SpanHead span={span} onClose={onClose} />
              <SpanError span={span} />
              <Tabs label="Span sections" tabs={TABS} chosen={chosen.name} onChoose={choose}>
                <chosen.shows key={`${id} ${chosen.name}`} span={span} />
              </Tabs>
            </>
          )
        }
      </Answered>
    </section>
  );
}

function SpanHead({ span, onClose }: { readonly span: SpanHeadRead; readonly onClose: () => void }) {
  const [asksCost, setAsksCost] = useState(false);
  const { id, trace_id, name, kind, has_error, started_at, ended_at, duration_ms, cost } = span;
  return (
    <header class="stack">
      <div class="line apart span-title">
        <h2>
          <Kind of={kind} /> <bdi>{name}</bdi>{' '}
          <Status error={has_error} running={ended_at === null && duration_ms === null} />
        </h2>
        <div class="line">
          <CopyButton text={id} what="Span ID" />
          <CopyAsCurl path={`/spans/${id}`} query={{ trace_id }} />
          <Button look="quiet" icon="close" label="Close span (Escape)" onClick={onClose} />
        </div>
      </div>
      <dl class="trace-figures">
        <Pair label="Started">
          <When at={started_at} />
        </Pair>
        <Pair label="Duration">
          <Took ms={duration_ms} />
        </Pair>
        <Pair label="Cost">
          <button type="button" class="as-link" title="Cost breakdown" onClick={() => setAsksCost(true)}>
            <Cost of={cost} />
          </button>
        </Pair>
        <Pair label="Tokens in">
          <Count of={span.input_tokens} />
        </Pair>
        <Pair label="out">
          <Count of={span.output_tokens} />
        </Pair>
        <Pair label="Model">
          <bdi>{span.model ?? NOTHING}</bdi>
        </Pair>
      </dl>
      {asksCost && <CostDialog span={span} onClose={() => setAsksCost(false)} />}
    </header>
  );
}

function Pair({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
