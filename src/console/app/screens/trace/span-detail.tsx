import { spanFields } from '../../../../engine/traces/model/list/fields.js';
import { Answered, Empty } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { call } from '../../state/api.js';
import { useKeys } from '../../state/keys.js';
import { place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { AttributesTab } from './attributes-tab.js';
import { DataTab } from './data-tab.js';
import { EvaluationsTab } from './evaluations-tab.js';
import { MessagesTab } from './messages-tab.js';
import { RawTab } from './raw-tab.js';
import { SpanError } from './span-error.js';
import { SpanHead } from './span-summary.js';
import type { SpanDetailProps } from './trace-body.js';

const LARGE = new Set(['input_data', 'output_data', 'attributes']);
const SMALL_FIELDS = Object.keys(spanFields).filter((name) => !LARGE.has(name));

const TABS = [
  { name: 'messages', label: 'Messages', shows: MessagesTab },
  { name: 'data', label: 'Data', shows: DataTab },
  { name: 'attributes', label: 'Attributes', shows: AttributesTab },
  { name: 'evaluations', label: 'Evaluations', shows: EvaluationsTab },
  { name: 'raw', label: 'Raw', shows: RawTab },
] as const;

/** One span in full. */
export function SpanDetail({ traceId, id, state, onClose }: SpanDetailProps) {
  const answer = useQuery({
    key: ['/spans', traceId, id, 'head', state],
    ask: (signal) =>
      call('GET /spans', { query: { id, trace_id: traceId, fields: SMALL_FIELDS.join(','), limit: 1 }, signal }),
  });
  const chosen = TABS.find(({ name }) => name === place.value.query.get('tab')) ?? TABS[0];
  const choose = (name: string) => {
    const tab = name === TABS[0].name ? null : name;
    // Who chooses what to see of a span means this one, also where the view selected it by itself.
    setQuery({ span: place.peek().query.get('span') ?? id, tab }, { replace: true });
  };
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
