import { useState } from 'preact/hooks';
import { count, counted, scoreText } from '../../../model/format.js';
import { newestByName, opinionsOf, timeOf } from '../../../model/scores.js';
import { Button } from '../../parts/button.js';
import { Failure } from '../../parts/states.js';
import { VisibleText } from '../../parts/visible-text.js';
import { place, setQuery } from '../../state/location.js';
import { useFeedback, useScores, type Target } from './data.js';
import { FeedbackShown, ScoreShown, type NameOfSpan } from './opinion-shown.js';
import { ScoreButton } from './score-button.js';

/** How many are shown at first, and how many one press adds. */
const SHOWN = 50;
/** Most that one call answers. */
const MOST = 1_000;
/** Names whose newest value is shown while the section is folded. */
const NAMES = 12;

interface OpinionsProps {
  /** A trace or a session. */
  readonly of: Target;
  readonly name: string;
  /** Milliseconds after which it is asked again. */
  readonly every: number | false;
  readonly nameOfSpan?: NameOfSpan;
}

/** What people, judges and programs think of a trace or session and of all that is in it: folded, the newest of each score. */
export function Opinions({ of, name, every, nameOfSpan }: OpinionsProps) {
  const [limit, setLimit] = useState(SHOWN);
  const scores = useScores(of, { limit, every });
  const feedback = useFeedback(of, { limit, every });
  const isOpen = place.value.query.get('scores') === 'open';
  const total = (scores.data?.total ?? 0) + (feedback.data?.summary.total ?? 0);
  const all = opinionsOf(scores.data?.rows ?? [], feedback.data?.items ?? []).slice(0, limit);
  const error = scores.error ?? feedback.error;
  return (
    <section class="opinions" aria-labelledby="opinions">
      <div class="line">
        <h2 id="opinions">Scores and feedback</h2>
        {newestByName(scores.data?.rows ?? [])
          .slice(0, NAMES)
          .map(({ name: score, value }) => (
            <span key={score} class="chip">
              <bdi class="soft clip">{score}</bdi>{' '}
              <bdi class="clip">
                <VisibleText text={scoreText(value)} />
              </bdi>
            </span>
          ))}
        {total > 0 ? (
          <Button
            look="quiet"
            icon={isOpen ? 'collapse' : 'expand'}
            more={{ 'aria-expanded': isOpen }}
            onClick={() => setQuery({ scores: isOpen ? null : 'open' }, { replace: true })}
          >
            {isOpen ? 'Hide' : `Show ${total === 1 ? '' : 'all '}${count(total)}`}
          </Button>
        ) : (
          scores.data !== undefined && feedback.data !== undefined && <span class="soft">none</span>
        )}
        <ScoreButton target={of} name={name} keys={of.type === 'trace' ? 'S' : 's'} />
      </div>
      {error !== null && (
        <Failure error={error} retry={() => void Promise.all([scores.refetch(), feedback.refetch()])} />
      )}
      {isOpen && (
        <ul class="opinion-list" tabIndex={0} aria-label="Scores and feedback">
          {all.map((opinion) => (
            <li key={`${opinion.kind} ${opinion.kind === 'score' ? opinion.score.id : opinion.id} ${timeOf(opinion)}`}>
              {opinion.kind === 'score' ? (
                <ScoreShown score={opinion.score} shownOn={of} {...(nameOfSpan && { nameOfSpan })} />
              ) : (
                <FeedbackShown item={opinion} shownOn={of} {...(nameOfSpan && { nameOfSpan })} />
              )}
            </li>
          ))}
          {all.length < total && (
            <li class="line">
              {limit < MOST && (
                <Button icon="down" onClick={() => setLimit(Math.min(MOST, limit + SHOWN))}>
                  Show more
                </Button>
              )}
              <span class="soft small">
                the newest {count(all.length)} of {counted(total, 'item')}
              </span>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}
