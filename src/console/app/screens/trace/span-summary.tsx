import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Cost, Count, Took, When } from '../../parts/figures.js';
import { Kind, Status } from '../../parts/kind.js';
import { changedAt } from '../../state/query.js';
import { AddSpansButton } from '../datasets/add-spans-button.js';
import { ScoreButton } from '../scores/score-button.js';
import { PriceDialog } from '../settings/price-dialog.js';
import { RepriceDialog } from '../settings/reprice-dialog.js';
import { CostDialog } from './cost-dialog.js';
import { RemedyButton, remedyOf, useCost, type CostRemedy } from './span-cost.js';
import type { SpanHeadRead } from './span-head.js';

/** What a span is, and what it took. */
export function SpanHead({ span, onClose }: { readonly span: SpanHeadRead; readonly onClose: () => void }) {
  const { id, trace_id, name, kind, has_error, started_at, ended_at, duration_ms } = span;
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
          <AddSpansButton spans={{ span_ids: [id] }} isSmall />
          <ScoreButton target={{ type: 'span', id }} name={name} keys="s" isSmall />
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
          <SpanCost span={span} />
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
    </header>
  );
}

/** The cost, with what explains it, and what to do about one that is not known. */
function SpanCost({ span }: { readonly span: SpanHeadRead }) {
  const [asked, setAsked] = useState<'cost' | CostRemedy | null>(null);
  const { id, cost, input_tokens } = span;
  const named = { provider: span.provider ?? '', model: span.model ?? '' };
  // Of other spans a price would change nothing.
  const isUnpriced = cost === null && named.model !== '' && input_tokens !== null;
  const { data } = useCost(span, isUnpriced);
  const remedy = isUnpriced ? remedyOf(data?.reason) : null;
  const close = () => {
    setAsked(null);
    void changedAt(`/spans/${id}/cost`);
  };
  return (
    <>
      <button type="button" class="as-link" title="Cost breakdown" onClick={() => setAsked('cost')}>
        <Cost of={cost} />
      </button>
      {remedy !== null && <RemedyButton remedy={remedy} onChoose={setAsked} />}
      {asked === 'cost' && <CostDialog span={span} onRemedy={setAsked} onClose={() => setAsked(null)} />}
      {asked === 'price' && <PriceDialog {...named} onClose={close} />}
      {asked === 'reprice' && <RepriceDialog {...named} onClose={close} />}
    </>
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
