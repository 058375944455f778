import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JudgePreviewRead } from '../../../../features/judges/preview-schema.js';
import type { JudgeInput, JudgeRead } from '../../../../features/judges/schema.js';
import { previewOf, type JudgeDraft } from '../../../model/judge-draft.js';
import { compact, count, counted } from '../../../model/format.js';
import { perCallNote } from '../../../model/judge-versions.js';
import { Button } from '../../parts/button.js';
import { Cost, Tile, When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Kind } from '../../parts/kind.js';
import { SpanLink } from '../../parts/span-link.js';
import { Failure, Skeleton } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { ApiError, call } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { useCalibration } from './data.js';
import { Tryouts } from './tryouts.js';

interface JudgePreviewProps {
  readonly judge: JudgeRead | null;
  readonly promptBefore: string;
  readonly draft: JudgeDraft;
  readonly change: (change: Partial<JudgeDraft>) => void;
}

/** After so many milliseconds without a change the server is asked. */
const PAUSE = 400;
/** Most spans that are tried at once. */
const MAX_TRIED = 3;

/** What a judge with these settings would do: its spans of a day, their cost, and what it says of some. */
export function JudgePreview({ judge, promptBefore, draft, change }: JudgePreviewProps) {
  const wanted = JSON.stringify(previewOf(draft, judge, promptBefore));
  const paused = usePaused(wanted);
  const body = JSON.parse(paused) as JudgeInput;
  const answer = useQuery({
    key: ['/judges:preview', paused],
    ask: (signal) => call('POST /projects/:project_id/judges:preview', { body, signal }),
  });
  const { data, error, refetch } = answer;
  const unfinished = error instanceof ApiError && error.status === 422;
  return (
    <section class="stack judge-preview" aria-label="Preview" aria-busy={answer.isFetching || paused !== wanted}>
      <h2>Preview</h2>
      {unfinished && (
        <ul class="soft stack" role="status">
          {error.problem.errors?.map(({ pointer, detail }) => (
            <li key={pointer + detail}>
              <code>{pointer}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      {error !== null && !unfinished && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Skeleton rows={5} />
      ) : (
        <Previewed preview={data} body={body}>
          <OtherKinds
            kinds={data.other_kinds.filter(({ kind }) => !draft.kinds.includes(kind))}
            onTake={(kind) => change({ kinds: [...draft.kinds, kind] })}
          />
        </Previewed>
      )}
      {judge !== null && <CorrectionsPerCall judgeId={judge.id} />}
    </section>
  );
}

/** What the estimate leaves out. */
function CorrectionsPerCall({ judgeId }: { readonly judgeId: string }) {
  const note = perCallNote(useCalibration(judgeId).data?.corrections_per_call ?? null);
  return note === null ? null : <p class="soft">Not included: {note}</p>;
}

/** A text once it stays the same for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

interface OtherKindsProps {
  readonly kinds: JudgePreviewRead['other_kinds'];
  readonly onTake: (kind: string) => void;
}

/** Kinds that are left out: agents and chains, too, may have the prompt, the question and the answer. */
function OtherKinds({ kinds, onTake }: OtherKindsProps) {
  if (kinds.length === 0) return null;
  return (
    <div class="line other-kinds" role="group" aria-label="Kinds to include">
      <span class="soft">Kinds excluded in the last 24 hours. Also include:</span>
      {kinds.map(({ kind, spans }) => (
        <Button key={kind} icon="plus" onClick={() => onTake(kind)}>
          {kind} <span class="soft">{count(spans)}</span>
        </Button>
      ))}
    </div>
  );
}

interface PreviewedProps {
  readonly preview: JudgePreviewRead;
  readonly body: JudgeInput;
  readonly children: ComponentChildren;
}

function Previewed({ preview, body, children }: PreviewedProps) {
  const { matches, evaluations_per_day, estimate, sample, runnable, not_runnable_reason, model } = preview;
  return (
    <>
      {!runnable && (
        <p class="line">
          <span class="badge bad">
            <Icon name="warning" /> cannot run
          </span>
          {not_runnable_reason}
        </p>
      )}
      <div class="tiles">
        <Tile label="Matches, 24 hours">{count(matches)}</Tile>
        <Tile label="Evaluations per day">{compact(evaluations_per_day)}</Tile>
        <Tile label="Cost per day" note={estimate?.cost_unknown_reason ?? undefined}>
          <Cost of={estimate?.cost_per_day} />
        </Tile>
        <Tile
          label="Tokens per day"
          note={
            estimate === null
              ? undefined
              : `based on ${counted(estimate.spans, body.subject ?? 'span')}${model === null ? '' : `, ${model}`}`
          }
        >
          {estimate === null ? compact(null) : compact(estimate.input_tokens_per_day + estimate.output_tokens_per_day)}
        </Tile>
      </div>
      {children}
      {sample.length === 0 ? (
        <p class="soft">No matching spans in the last 24 hours. Remove a filter or send spans.</p>
      ) : (
        <Sample key={sample.map(({ id }) => id).join()} sample={sample} body={body} runnable={runnable} />
      )}
    </>
  );
}

interface SampleProps {
  readonly sample: JudgePreviewRead['sample'];
  readonly body: JudgeInput;
  readonly runnable: boolean;
}

const idOf = ({ id, subject_id }: JudgePreviewRead['sample'][number]) => subject_id ?? id;

/** The latest matching spans, traces or sessions, of which some are tried. */
function Sample({ sample, body, runnable }: SampleProps) {
  const [chosen, setChosen] = useState<readonly string[]>(() => sample.slice(0, 1).map(idOf));
  const subject = body.subject ?? 'span';
  const [tried, setTried] = useState<JudgePreviewRead['tried'] | null>(null);
  const { busy, failure, run } = useAction();
  const refused = !runnable
    ? 'The judge cannot run'
    : chosen.length === 0
      ? `Select a ${subject}`
      : chosen.length > MAX_TRIED
        ? `Select at most ${MAX_TRIED} ${subject}s`
        : null;
  const tryIt = () =>
    run(async () => {
      const asked = { body: { ...body, try: [...chosen] } };
      setTried((await call('POST /projects/:project_id/judges:preview', asked)).tried);
      announce('Test complete: see the verdicts below');
    });
  const toggle = (id: string) =>
    setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  return (
    <>
      <h3>Latest matching {subject}s</h3>
      <ul class="sample">
        {sample.map(({ id, subject_id, trace_id, name, kind, started_at, input_data, output_data }) => (
          <li key={id} class="line">
            <input
              type="checkbox"
              aria-label={`Test ${name}`}
              checked={chosen.includes(subject_id ?? id)}
              onChange={() => toggle(subject_id ?? id)}
            />
            <Kind of={kind} />
            <SpanLink id={id} traceId={trace_id}>
              <bdi>{name}</bdi>
            </SpanLink>
            <span class="soft small">
              <When at={started_at} relative />
            </span>
            <span class="soft small clip sample-text" title={output_data ?? undefined}>
              <bdi>{input_data ?? '–'}</bdi> → <bdi>{output_data ?? '–'}</bdi>
            </span>
          </li>
        ))}
      </ul>
      <div class="line">
        <Button icon="play" changes busy={busy} refused={refused} onClick={tryIt}>
          Test on {counted(chosen.length, subject)}
        </Button>
        <span class="soft small">Calls the model, which uses tokens; no evaluation is stored.</span>
      </div>
      {failure !== null && <Failure error={failure} />}
      {tried !== null && <Tryouts tried={tried} sample={sample} />}
    </>
  );
}
