import { useState } from 'preact/hooks';
import { ERROR_WAYS, type ErrorWay } from '../../../../features/comparisons/comparison.js';
import { draftsFor, metricOf, metricsOf, refusedMetrics, type MetricDraft } from '../../../model/comparison-draft.js';
import { tagOfSide, type Experiment } from '../../../model/experiments.js';
import { commonJudges } from '../../../model/judge-runs.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { call } from '../../state/api.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';
import { useDataset } from '../datasets/data.js';
import { ExperimentState } from '../experiments/experiment-state.js';
import { useExperiment } from '../experiments/data.js';
import { useTagged } from '../experiments/tagged.js';
import { comparisonsChanged } from './data.js';
import { ExperimentChoice } from './experiment-choice.js';
import { LackingJudges } from './lacking-judges.js';
import { MetricFields } from './metric-fields.js';
import { SliceFields } from './slice-fields.js';

/** How long a comparison waits for experiments that are in progress. */
const WAIT_SECONDS = 600;
const CONFIDENCES = ['0.9', '0.95', '0.99'];
const WAYS: Readonly<Record<ErrorWay, string>> = {
  count_as_fail: 'count as the worst value',
  leave_out: 'leave their rows out',
};

/** Which two experiments are compared, and by which rules. */
export function NewComparison() {
  const { query } = place.value;
  const candidate = useExperiment(query.get('candidate') ?? '').data;
  const side = query.get('baseline') ?? '';
  const tag = tagOfSide(side);
  const tagged = useTagged(tag === null ? '' : (candidate?.dataset.id ?? ''), tag ?? '');
  const baseline = useExperiment(tag === null ? side : (tagged?.id ?? '')).data;
  const definitions = useScoreDefinitions();
  const both = candidate !== undefined && baseline !== undefined ? { candidate, baseline } : null;
  return (
    <div class="stack comparison-new">
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="comparisons" label="Comparisons" name="New comparison" />
        </div>
      </header>
      <div class="field-grid">
        <ExperimentChoice
          label="Candidate"
          hint="The new version, which may be worse."
          name="candidate"
          chosen={candidate}
        />
        <ExperimentChoice
          label="Baseline"
          hint="The version that it is compared with. If you choose a tag, the comparison names it."
          name="baseline"
          chosen={baseline}
          tag={tag}
          {...(candidate !== undefined && { beside: candidate })}
        />
      </div>
      {both === null ? (
        <p class="soft">Choose two experiments of one dataset.</p>
      ) : (
        definitions.data !== undefined && (
          <Rules
            // Once a judge has evaluated both, its verdicts are a metric, too.
            key={[candidate?.id, baseline?.id, ...commonJudges(both.candidate, both.baseline).map(metricOf)].join()}
            {...both}
            tag={tag}
            first={draftsFor(both.candidate, both.baseline, definitions.data)}
          />
        )
      )}
    </div>
  );
}

interface RulesProps {
  readonly candidate: Experiment;
  readonly baseline: Experiment;
  /** The tag that the baseline is asked for by; null: its id. */
  readonly tag: string | null;
  readonly first: readonly MetricDraft[];
}

/** Why two experiments cannot be compared; null: they can. */
function refusedPair({ candidate, baseline }: Pick<RulesProps, 'candidate' | 'baseline'>): string | null {
  if (candidate.id === baseline.id) return 'Choose two different experiments';
  if (candidate.dataset.id !== baseline.dataset.id) return 'They are on different datasets';
  const ended = [candidate, baseline].find(({ status }) => status === 'canceled' || status === 'expired');
  return ended === undefined ? null : `${ended.name} is ${ended.status}: only finished experiments can be compared`;
}

function Rules({ candidate, baseline, tag, first }: RulesProps) {
  const [drafts, setDrafts] = useState(first);
  const [slices, setSlices] = useState<readonly string[]>([]);
  const [confidence, setConfidence] = useState('0.95');
  const [errors, setErrors] = useState<ErrorWay>('count_as_fail');
  const columns = useDataset(candidate.dataset.name).data?.latest_version?.columns ?? [];
  const waits = [candidate, baseline].filter(
    ({ status, judges = [] }) => status === 'running' || judges.some(({ pending }) => pending > 0),
  );
  const compare = async () => {
    const made = await call('POST /projects/:project_id/comparisons', {
      body: {
        candidate: candidate.id,
        baseline: tag === null ? baseline.id : { tag },
        metrics: metricsOf(drafts),
        confidence: Number(confidence),
        errors,
        ...(slices.length > 0 && { slices }),
        ...(waits.length > 0 && { wait_seconds: WAIT_SECONDS }),
      },
    });
    await comparisonsChanged();
    navigate(hrefOf({ screen: 'comparisons', id: made.id }), { replace: true });
  };
  const refused = refusedPair({ candidate, baseline }) ?? refusedMetrics(drafts);
  return (
    <Form
      action={waits.length > 0 ? 'Compare when finished' : 'Compare'}
      icon="diff"
      refused={refused}
      onSend={compare}
    >
      <MetricFields drafts={drafts} onChange={setDrafts} />
      <LackingJudges candidate={candidate} baseline={baseline} />
      <div class="line fields">
        <Field label="Confidence">
          <select class="input" value={confidence} onChange={({ currentTarget: { value } }) => setConfidence(value)}>
            {CONFIDENCES.map((one) => (
              <option key={one} value={one}>
                {Number(one) * 100}%
              </option>
            ))}
          </select>
        </Field>
        <Field label="Results with an error">
          <select
            class="input"
            value={errors}
            onChange={({ currentTarget: { value } }) => setErrors(ERROR_WAYS.find((way) => way === value) ?? errors)}
          >
            {ERROR_WAYS.map((way) => (
              <option key={way} value={way}>
                {WAYS[way]}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {columns.length > 0 && <SliceFields columns={columns} chosen={slices} onChange={setSlices} />}
      {waits.map((experiment) => (
        <p key={experiment.id} class="line" role="status">
          <bdi>{experiment.name}</bdi> <ExperimentState of={experiment} />
        </p>
      ))}
      {waits.length > 0 && (
        <p class="soft">
          The comparison waits up to 10 minutes until both are finished and evaluated. Keep this page open.
        </p>
      )}
    </Form>
  );
}
