import type { ComponentChildren } from 'preact';
import { count } from '../../../model/format.js';
import { runOfSpan, type ShownRun } from '../../../model/playground.js';
import { Button } from '../../parts/button.js';
import { Cost, Took } from '../../parts/figures.js';
import { LongText, TextFormSwitch } from '../../parts/long-text.js';
import { Answered, Empty, Failure, Skeleton } from '../../parts/states.js';
import { TextDiff } from '../../parts/text-diff.js';
import { call } from '../../state/api.js';
import { useAsked, useDocument } from '../../state/documents.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { useQuery, type Answer } from '../../state/query.js';
import { whoami } from '../../state/session.js';
import type { SentRun } from './runs.js';

interface AnswersProps {
  readonly sent: readonly SentRun[];
  readonly onDismiss: (id: number) => void;
}

/** The answers side by side, those of the address first and then those that are waited for. */
export function Answers({ sent, onDismiss }: AnswersProps) {
  const { query } = place.value;
  const ids = query.getAll('run');
  const compared = ids.filter((id) => query.getAll('compare').includes(id)).slice(0, 2);
  const toggle = (id: string) =>
    setQuery({
      compare: compared.includes(id) ? compared.filter((other) => other !== id) : [...compared.slice(-1), id],
    });
  const remove = (id: string) => {
    setQuery({ run: ids.filter((other) => other !== id), compare: compared.filter((other) => other !== id) });
    requestAnimationFrame(() => document.getElementById('pg-answers')?.focus());
  };
  const [first, second] = compared;
  const all = hrefOf({ screen: 'spans', query: { 'spanhouse.playground': whoami.value?.user.id ?? '' } });
  return (
    <section class="stack" aria-labelledby="pg-answers">
      <div class="line apart">
        <h2 id="pg-answers" tabIndex={-1}>
          Responses
        </h2>
        <span class="line">
          <a href={all}>My calls</a>
          <TextFormSwitch />
        </span>
      </div>
      {ids.length + sent.length === 0 && (
        <Empty title="No responses yet">
          <p class="soft">
            Responses appear side by side. Each call is stored as a span with its tokens and cost, separate from your
            application’s spans.
          </p>
        </Empty>
      )}
      {first !== undefined && second === undefined && (
        <p class="soft">Choose another response to compare with response {ids.indexOf(first) + 1}.</p>
      )}
      {first !== undefined && second !== undefined && (
        <Comparison key={first + second} ids={[first, second]} all={ids} />
      )}
      <div class="pg-answers">
        {ids.map((id, index) => (
          <Column
            key={id}
            id={id}
            number={index + 1}
            compared={compared.includes(id)}
            onCompare={ids.length > 1 ? () => toggle(id) : null}
            onRemove={() => remove(id)}
          />
        ))}
        {sent.map((one) => (
          <Waiting key={`sent ${one.id}`} one={one} onDismiss={() => onDismiss(one.id)} />
        ))}
      </div>
    </section>
  );
}

function useRun(id: string): Answer<ShownRun> {
  return useQuery({
    key: ['/spans', id, 'playground'],
    ask: async (signal) => runOfSpan(await call('GET /spans/:id', { params: { id }, signal })),
  });
}

interface ColumnProps {
  readonly id: string;
  readonly number: number;
  readonly compared: boolean;
  /** Null: there is nothing to compare it with. */
  readonly onCompare: (() => void) | null;
  readonly onRemove: () => void;
}

function Column({ id, number, compared, onCompare, onRemove }: ColumnProps) {
  const answer = useRun(id);
  const model = answer.data?.model ?? null;
  return (
    <article class="card pg-answer" aria-label={`Response ${number}`}>
      <header class="line apart">
        <h3>
          {number}. <bdi>{model ?? 'Response'}</bdi>
          {answer.data?.temperature != null && <span class="soft"> at {answer.data.temperature}</span>}
        </h3>
        <span class="line">
          {onCompare !== null && (
            <Button pressed={compared} icon="diff" label={`Compare response ${number}`} onClick={onCompare} />
          )}
          <Button look="quiet" icon="close" label={`Remove response ${number} from view`} onClick={onRemove} />
        </span>
      </header>
      <Answered answer={answer} rows={4}>
        {(run) => <Run run={run} />}
      </Answered>
    </article>
  );
}

function Run({ run }: { readonly run: ShownRun }) {
  return (
    <div class="stack">
      <dl class="pg-figures">
        <Figure label="Input tokens">{count(run.input_tokens)}</Figure>
        <Figure label="Output tokens">{count(run.output_tokens)}</Figure>
        <Figure label="Cost">
          <Cost of={run.cost} />
        </Figure>
        <Figure label="Duration">
          <Took ms={run.duration_ms} />
        </Figure>
        <Figure label="Finish reason">
          <bdi>{run.finish_reason?.slice(0, 60) ?? '–'}</bdi>
        </Figure>
      </dl>
      {run.error !== null && <p class="bad">{run.error}</p>}
      {run.refused && <p class="bad">Model refused:</p>}
      {run.finish_reason === 'length' && <p class="bad small">The response was too long and was truncated.</p>}
      {run.output !== null && <Text text={run.output} />}
      <p>
        <a href={hrefOf({ screen: 'traces', id: run.trace_id, query: { span: run.id } })}>Open span</a>
      </p>
    </div>
  );
}

function Figure({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt class="soft small">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Text({ text }: { readonly text: string }) {
  const document = useDocument({ answer: text });
  const shown = useAsked(() => document.ask('text', 'answer'), [document]);
  if (text === '') return <p class="soft">Empty response.</p>;
  return shown == null ? <Skeleton rows={3} /> : <LongText document={document} text={shown} prose />;
}

function Waiting({ one: { variant, error }, onDismiss }: { readonly one: SentRun; readonly onDismiss: () => void }) {
  return (
    <article class="card pg-answer" aria-label="Call" aria-busy={error === null}>
      <header class="line apart">
        <h3>
          <bdi>{variant.model === '' ? 'Default model' : variant.model}</bdi>
        </h3>
        {error !== null && <Button look="quiet" icon="close" label="Close" onClick={onDismiss} />}
      </header>
      {error === null ? (
        <>
          <p class="soft">Waiting for response…</p>
          <Skeleton rows={4} />
        </>
      ) : (
        <Failure error={error} />
      )}
    </article>
  );
}

interface ComparisonProps {
  readonly ids: readonly [string, string];
  readonly all: readonly string[];
}

function Comparison({ ids: [before, after], all }: ComparisonProps) {
  const [left, right] = [useRun(before), useRun(after)];
  if (left.data === undefined || right.data === undefined) return <Skeleton rows={3} />;
  const label = (id: string) => `Response ${all.indexOf(id) + 1}`;
  return (
    <div class="card">
      <TextDiff
        before={left.data.output ?? ''}
        after={right.data.output ?? ''}
        labels={[label(before), label(after)]}
      />
    </div>
  );
}
