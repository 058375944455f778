import { useRef, useState } from 'preact/hooks';
import type { SpanRead } from '../../../../engine/traces/model/list/fields.js';
import type { PromptVersionRead } from '../../../../features/prompts/http/schema.js';
import { counted } from '../../../model/format.js';
import {
  draftOfSpan,
  draftOfVersion,
  EMPTY_DRAFT,
  inputOf,
  sourceIn,
  variantParameters,
  variantsIn,
  type Draft,
  type Source,
} from '../../../model/playground.js';
import { Button } from '../../parts/button.js';
import { Failure, Skeleton } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { useKeys } from '../../state/keys.js';
import { hrefOf, place, setQuery } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { mayChange, whoami } from '../../state/session.js';
import { Answers } from './answers.js';
import { useDraft } from './draft.js';
import { Editor } from './editor.js';
import { useRuns } from './runs.js';
import { SaveVersion } from './save-version.js';
import { isTemperature, Variants } from './variants.js';

/** `/playground?prompt=&version=&span=&trace=`: ask a model something else than was asked. */
export default function Playground() {
  const { query } = place.value;
  const source = sourceIn(query);
  const span = useQuery({
    key: ['/spans', source.span, query.get('trace'), 'source'],
    ask: (signal) =>
      call('GET /spans/:id', {
        params: { id: source.span ?? '' },
        query: { trace_id: query.get('trace') },
        signal,
      }),
    enabled: source.span !== null,
    keep: false,
  });
  const slug = source.prompt ?? span.data?.prompt_slug ?? null;
  const number = source.prompt === null ? (span.data?.prompt_version ?? null) : source.version;
  const version = useQuery({
    key: ['/v1/prompts', slug, number],
    ask: (signal) =>
      call('GET /v1/prompts/:prompt_slug', {
        params: { prompt_slug: slug ?? '' },
        query: { version: number },
        signal,
      }),
    enabled: slug !== null && (source.prompt !== null || number !== null),
    keep: false,
  });
  // A span may name a version that is gone; its own texts are there.
  const failure = span.error ?? (source.prompt === null ? null : version.error);
  if (failure !== null)
    return (
      <>
        <h1>Playground</h1>
        <Failure error={failure} retry={() => void (span.error === null ? version : span).refetch()} />
        <p>
          <a href={hrefOf({ screen: 'playground' })}>Start over</a>
        </p>
      </>
    );
  if (span.isLoading || version.isLoading) return <Skeleton rows={12} />;
  const from = version.data ?? null;
  const loaded =
    span.data !== undefined ? draftOfSpan(span.data, from) : from === null ? EMPTY_DRAFT : draftOfVersion(from);
  return (
    <Workbench
      key={[source.span, slug].join(' ')}
      loaded={loaded}
      from={from}
      span={span.data ?? null}
      source={{ prompt: slug, version: from?.version ?? null, span: source.span }}
    />
  );
}

interface WorkbenchProps {
  readonly loaded: Draft;
  readonly from: PromptVersionRead | null;
  readonly span: SpanRead | null;
  readonly source: Source;
}

function Workbench({ loaded, from, span, source }: WorkbenchProps) {
  const { draft, isChanged, isHereAlone, isElsewhere, change, reset } = useDraft(loaded);
  const runs = useRuns();
  const [saving, setSaving] = useState(false);
  const variants = variantsIn(place.value.query);
  const capabilities = whoami.value?.capabilities;
  const defaultModel = from?.model_id ?? capabilities?.judge_model ?? null;
  const inputs = variants.map((variant) => {
    const input = inputOf(draft, variant, source);
    return input.messages.length === 0 || !isTemperature(variant.temperature) ? null : input;
  });
  const refused = runs.busy
    ? 'Calls are in progress'
    : capabilities?.judges === false
      ? NO_ENDPOINT
      : inputs.includes(null)
        ? 'Enter a message, and temperatures from 0 to 2'
        : null;
  const run = () => {
    if (refused !== null || saving || !mayChange()) return;
    runs.start(variants.flatMap((variant, index) => (inputs[index] ? [{ variant, input: inputs[index] }] : [])));
  };
  const latest = useRef(run);
  latest.current = run;
  useKeys([{ keys: 'mod+enter', does: 'Run', run: () => latest.current() }]);
  return (
    <>
      <header class="screen-head">
        <div class="stack pg-head">
          <h1>Playground</h1>
          <From from={from} span={span} />
        </div>
        <span class="line">
          {isChanged && (
            <Button icon="refresh" onClick={reset}>
              Discard changes
            </Button>
          )}
          <Button icon="disk" changes onClick={() => setSaving(true)}>
            Save as version
          </Button>
        </span>
      </header>
      {capabilities?.judges === false && <NoEndpoint />}
      {isElsewhere && <p class="soft">Another tab edited this page; these are the original texts.</p>}
      {isHereAlone && (
        <p class="soft">
          The texts are too long for the URL: they stay in this tab, and the link opens the original texts.
        </p>
      )}
      <div class="pg">
        <section class="stack" aria-label="Request">
          <Editor draft={draft} onChange={change} />
          <Variants
            variants={variants}
            defaultModel={defaultModel}
            inputs={capabilities?.judges === false ? [] : inputs}
            onChange={(next) => setQuery(variantParameters(next), { replace: true })}
          />
          <div class="line">
            <Button look="main" icon="play" changes busy={runs.busy} refused={refused} onClick={run}>
              {variants.length === 1 ? 'Run' : `Run ${counted(variants.length, 'variant')}`}
            </Button>
            {runs.busy && (
              <Button icon="close" onClick={runs.cancel}>
                Cancel
              </Button>
            )}
            <span class="soft small">
              <kbd>Ctrl</kbd> or <kbd>⌘</kbd> <kbd>Enter</kbd>
            </span>
          </div>
        </section>
        <Answers sent={runs.sent} onDismiss={runs.dismiss} />
      </div>
      {saving && <SaveVersion draft={draft} from={from} onClose={() => setSaving(false)} />}
    </>
  );
}

const NO_ENDPOINT = 'No model endpoint configured: set JUDGE_LLM_BASE_URL';

function NoEndpoint() {
  return (
    <div class="state bad-state">
      <h2>No model configured</h2>
      <p>
        Set <code>JUDGE_LLM_BASE_URL</code> to any OpenAI-compatible server, such as{' '}
        <code>https://api.openai.com/v1</code>, and <code>JUDGE_LLM_API_KEY</code> and <code>JUDGE_LLM_MODEL</code> if
        needed. Then restart the server. Judges use the same settings.
      </p>
    </div>
  );
}

function From({ from, span }: Pick<WorkbenchProps, 'from' | 'span'>) {
  if (from === null && span === null)
    return (
      <p class="soft">
        Write messages here, or open a <a href={hrefOf({ screen: 'prompts' })}>prompt version</a> or a{' '}
        <a href={hrefOf({ screen: 'spans', query: { span_kind: 'llm' } })}>model call</a>.
      </p>
    );
  return (
    <p class="soft">
      From{' '}
      {span !== null && (
        <>
          the call{' '}
          <a href={hrefOf({ screen: 'traces', id: span.trace_id, query: { span: span.id } })}>
            <bdi>{span.name}</bdi>
          </a>
          {from !== null && ' and '}
        </>
      )}
      {from !== null && (
        <a href={hrefOf({ screen: 'prompts', id: from.prompt })}>
          <bdi>{from.prompt}</bdi>, version {from.version}
        </a>
      )}
    </p>
  );
}
