import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Experiment } from '../../../model/experiments.js';
import { count, scoreText } from '../../../model/format.js';
import { shortVersion } from '../../../model/judge-version-text.js';
import { Cells } from '../../parts/cells.js';
import { CopyButton } from '../../parts/copy.js';
import { Dialog } from '../../parts/dialog.js';
import { Cost, Took, When } from '../../parts/figures.js';
import { JsonView } from '../../parts/json-view.js';
import { SpanLink } from '../../parts/span-link.js';
import { Answered } from '../../parts/states.js';
import { VerdictShown } from '../../parts/verdict.js';
import { call } from '../../state/api.js';
import { hrefOf, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useResult, type Result } from './results.js';
import { isJsonObject } from '../../../../engine/json-object.js';

/** Evaluations that are shown; the span has all of them. */
const EVALUATIONS = 5;

interface ResultViewProps {
  readonly experiment: Experiment;
  readonly row: string;
  readonly repetition: number;
}

/** A result with all of its texts and scores, and where it was made. */
export function ResultView({ experiment: { id, repetitions }, row, repetition }: ResultViewProps) {
  const answer = useResult(id, row, repetition);
  const cells = useMemo(() => cellsIn(answer.data?.input ?? ''), [answer.data]);
  const title = `Row ${row}${repetitions > 1 ? `, repetition ${repetition}` : ''}`;
  return (
    <Dialog title={title} wide onClose={() => setQuery({ row: null, repetition: null }, { replace: true })}>
      <Answered answer={answer}>
        {(found) =>
          found === null ? (
            <p class="soft">This row has no such result.</p>
          ) : (
            <div class="stack">
              <ResultHead result={found.result} />
              <Evaluations spanId={found.result.id} />
              <Part title="Row">
                {cells !== null ? <Cells of={cells} /> : <JsonView value={found.input} label="Row" />}
              </Part>
              {found.result.error_message !== null && (
                <Part title="Error">
                  <JsonView value={found.result.error_message} label="Error" />
                </Part>
              )}
              <Part title="Output">
                <JsonView value={found.result.output_data} label="Output" />
              </Part>
            </div>
          )
        }
      </Answered>
    </Dialog>
  );
}

/** The cells of a row in its JSON; null: it is none. */
function cellsIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const row = JSON.parse(json) as unknown;
    return isJsonObject(row) ? row : null;
  } catch {
    return null;
  }
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** What judges said of a result, the newest verdict of each first. */
function Evaluations({ spanId }: { readonly spanId: string }) {
  const { data } = useQuery({
    key: ['/judges', 'of', spanId],
    ask: (signal) =>
      call('GET /projects/:project_id/spans/:span_id/evaluations', { params: { span_id: spanId }, signal }),
  });
  if (data === undefined || data.evaluations.length === 0) return null;
  return (
    <Part title="Evaluations">
      {data.evaluations.slice(0, EVALUATIONS).map((evaluation) => (
        <section key={evaluation.id} class="stack">
          <p class="soft">
            <bdi>{evaluation.judge_name}</bdi>
            {evaluation.judge_version !== null && `, ${shortVersion(evaluation.judge_version)}`}
          </p>
          <VerdictShown of={evaluation} />
        </section>
      ))}
    </Part>
  );
}

function ResultHead({ result }: { readonly result: Result }) {
  const { id, trace_id, row_id, has_error, scores, cost, duration_ms, input_tokens, output_tokens, created_at } =
    result;
  return (
    <>
      <div class="line apart">
        <span class="line">
          {has_error && <span class="badge bad">error</span>}
          {Object.entries(scores).map(([name, value]) => (
            <span key={name} class="badge">
              <bdi class="clip">{name}</bdi> <bdi class="clip">{scoreText(value)}</bdi>
            </span>
          ))}
        </span>
        <span class="line">
          {trace_id !== id && <a href={hrefOf({ screen: 'traces', id: trace_id })}>Open trace</a>}
          <SpanLink id={id}>Score or comment the result</SpanLink>
          <CopyButton text={row_id} what="Row ID" />
        </span>
      </div>
      <p class="soft">
        <Cost of={cost} />, <Took ms={duration_ms} />, {count(input_tokens)} tokens in, {count(output_tokens)} out;
        received <When at={created_at} />
      </p>
    </>
  );
}
