import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { meanText, resultsDue, type Experiment, type ScoreFigures } from '../../../model/experiments.js';
import { count, counted, scoreText } from '../../../model/format.js';
import { Cost, Count, Took, Tile } from '../../parts/figures.js';
import { Rate } from '../../parts/rate.js';
import { call } from '../../state/api.js';
import { hrefWith } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';

/** Categories of a score that are shown. */
const CATEGORIES = 5;

/** What came of an experiment as a whole. */
export function ExperimentFigures({ experiment }: { readonly experiment: Experiment }) {
  const { figures } = experiment;
  const { results, errors, cost, input_tokens, output_tokens, duration_ms_p50, duration_ms_p95, scores } = figures;
  const definitions = useScoreDefinitions().data ?? [];
  return (
    <>
      <div class="tiles">
        <Tile label="Results" note={`of ${count(resultsDue(experiment))}`}>
          <Count of={results} />
        </Tile>
        <Tile label="Errors" {...(errors > 0 && { href: hrefWith({ has_error: 'true', offset: null }) })}>
          <span class={errors > 0 ? 'bad' : ''}>{count(errors)}</span>
        </Tile>
        <Tile label="Cost">
          <Cost of={cost} />
        </Tile>
        <Tile label="Tokens" note="in / out">
          <Count of={input_tokens} /> / <Count of={output_tokens} />
        </Tile>
        <Tile label="Duration" note="median / 95%">
          <Took ms={duration_ms_p50} /> / <Took ms={duration_ms_p95} />
        </Tile>
      </div>
      {scores.length > 0 && (
        <section class="stack" aria-label="Scores">
          <h2>Scores</h2>
          <dl class="experiment-scores card">
            {scores.map((score) => (
              <>
                <dt key={score.name} class="clip" title={score.name}>
                  <bdi>{score.name}</bdi>
                </dt>
                <dd class="line">
                  <ScoreShown
                    experiment={experiment}
                    score={score}
                    definition={definitions.find(({ name }) => name === score.name)}
                  />
                  <span class="soft small">{counted(score.count, 'result')}</span>
                </dd>
              </>
            ))}
          </dl>
        </section>
      )}
    </>
  );
}

interface ScoreProps {
  readonly experiment: Experiment;
  readonly score: ScoreFigures;
  readonly definition: ScoreDefinitionRead | undefined;
}

/** A mean on its scale, where it has both; of categories, how often each was given. */
function ScoreShown({ experiment, score: { name, kind, mean }, definition }: ScoreProps) {
  if (mean === null) return <Categories experiment={experiment} name={name} />;
  const { min, max } = kind === 'boolean' ? { min: 0, max: 1 } : { min: definition?.min, max: definition?.max };
  const text = meanText(experiment, name);
  if (min == null || max == null || max <= min) return <b>{text}</b>;
  const scale = kind === 'boolean' ? 'Share that is true' : `On the scale from ${min} to ${max}`;
  return <Rate of={(mean - min) / (max - min)} interval={null} text={text} about={scale} wide />;
}

function Categories({ experiment: { id }, name }: { readonly experiment: Experiment; readonly name: string }) {
  const query = { experiment_id: id, field: `scores.${name}`, limit: CATEGORIES };
  const { data } = useQuery({
    key: ['/experiments', id, 'categories', query],
    ask: (signal) => call('GET /spans:facets', { query, signal }),
  });
  return (
    <>
      {data?.values.map(({ value, count: times }) => (
        <span key={String(value)} class="badge">
          <bdi class="clip">{scoreText(value ?? '(none)')}</bdi> {count(times)}
        </span>
      ))}
      {data !== undefined && data.total > data.values.length && <span class="soft">and others</span>}
    </>
  );
}
