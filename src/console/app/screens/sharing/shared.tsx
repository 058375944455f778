import { useEffect, useMemo } from 'preact/hooks';
import type { SharedTrace } from '../../../../features/sharing/shared-traces.js';
import type { OutlineRead } from '../../../../engine/traces/model/trace/outline-schema.js';
import { count } from '../../../model/format.js';
import { Cost, Figure, Took, When } from '../../parts/figures.js';
import { Status } from '../../parts/kind.js';
import { Notices } from '../../parts/notices.js';
import { Answered } from '../../parts/states.js';
import { request } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { PART_NAMES } from './part-names.js';
import { sharedSpanDetail } from './shared-span.js';
import { Tags } from './tags.js';
import type { TraceParts } from './trace-parts.js';

interface SharedProps {
  /** The token of the link. */
  readonly by: string;
  readonly parts: TraceParts;
}

/** The trace of a share link, and nothing else. */
export function Shared({ by, parts }: SharedProps) {
  const answer = useQuery({
    key: ['shared', by],
    ask: async (signal) => (await (await request(`/s/${by}/trace`, { signal })).json()) as SharedTrace,
  });
  return (
    <div class="shared">
      <header class="line apart">
        <p class="brand">Spanhouse</p>
        {answer.data !== undefined && (
          <p class="soft small">
            Shared trace, read-only, until <When at={answer.data.expires_at} />
          </p>
        )}
      </header>
      <main id="main" tabIndex={-1}>
        <Answered answer={answer} rows={3} isPage>
          {(data) => <Trace shared={data} parts={parts} />}
        </Answered>
      </main>
      <Notices />
    </div>
  );
}

function Trace({ shared, parts }: Pick<SharedProps, 'parts'> & { readonly shared: SharedTrace }) {
  const { TraceBody, figuresOf, traceOutline } = parts;
  const { trace, left_out } = shared;
  const outline = useMemo(() => traceOutline(shared.outline as OutlineRead), [shared]);
  const figures = useMemo(() => figuresOf(outline), [outline]);
  const Detail = useMemo(() => sharedSpanDetail(parts), [parts]);
  useEffect(() => {
    document.title = `${trace.name} · Shared trace`;
  }, [trace.name]);
  return (
    <div class="trace">
      <header class="trace-head">
        <div class="line">
          <h1>
            <bdi>{trace.name}</bdi>
          </h1>
          <Status error={trace.has_error} running={figures.running > 0} />
        </div>
        <dl class="trace-figures">
          <Figure label="Started">
            <When at={trace.started_at} />
          </Figure>
          <Figure label="Duration">
            <Took ms={trace.duration_ms} />
          </Figure>
          {!left_out.includes('costs') && (
            <>
              <Figure label="Cost">
                <Cost of={trace.cost} />
              </Figure>
              <Figure label="Tokens">{count(figures.tokens)}</Figure>
            </>
          )}
          <Figure label="Spans">{count(trace.span_count)}</Figure>
          <Figure label="Errors">{count(trace.error_count)}</Figure>
        </dl>
        {trace.tags !== undefined && <Tags of={trace.tags} />}
        {left_out.length > 0 && (
          <p class="soft small">Left out: {left_out.map((part) => PART_NAMES[part].toLowerCase()).join(', ')}.</p>
        )}
      </header>
      <div class="trace-shown">
        <TraceBody id="" outline={outline} Detail={Detail} />
      </div>
    </div>
  );
}
