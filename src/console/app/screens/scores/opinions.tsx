import { useState } from 'preact/hooks';
import { count, counted, scoreText } from '../../../model/format.js';
import { opinionsOf, type Newest, type Opinion } from '../../../model/scores.js';
import { Button } from '../../parts/button.js';
import { Failure } from '../../parts/states.js';
import { VisibleText } from '../../parts/visible-text.js';
import { place, setQuery } from '../../state/location.js';
import { useFeedback, useNewestScores, useScores, type Target } from './data.js';
import { FeedbackShown, ScoreShown, type NameOfSpan, type ShownProps } from './opinion-shown.js';
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
  const newest = useNewestScores(of, scores.data);
  const isOpen = place.value.query.get('scores') === 'open';
  const total = (scores.data?.total ?? 0) + (feedback.data?.summary.total ?? 0);
  const error = scores.error ?? feedback.error;
  return (
    <section class="opinions" aria-labelledby="opinions">
      <div class="line">
        <h2 id="opinions">Scores and feedback</h2>
        <Values of={newest} />
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
        <OpinionList
          opinions={opinionsOf(scores.data?.rows ?? [], feedback.data?.items ?? []).slice(0, limit)}
          total={total}
          shown={{ shownOn: of, ...(nameOfSpan && { nameOfSpan }) }}
          onMore={limit < MOST ? () => setLimit(Math.min(MOST, limit + SHOWN)) : null}
        />
      )}
    </section>
  );
}

function Values({ of }: { readonly of: Newest }) {
  return (
    <>
      {of.slice(0, NAMES).map(([name, value]) => (
        <span key={name} class="chip">
          <bdi class="soft clip">{name}</bdi>{' '}
          <bdi class="clip">
            <VisibleText text={scoreText(value)} />
          </bdi>
        </span>
      ))}
      {of.length > NAMES && <span class="soft">and {counted(of.length - NAMES, 'other')}</span>}
    </>
  );
}

interface OpinionListProps {
  readonly opinions: readonly Opinion[];
  readonly total: number;
  readonly shown: ShownProps;
  /** Null: no call answers more. */
  readonly onMore: (() => void) | null;
}

function OpinionList({ opinions, total, shown, onMore }: OpinionListProps) {
  return (
    <ul class="opinion-list" tabIndex={0} aria-label="Scores and feedback">
      {opinions.map((opinion) =>
        opinion.kind === 'score' ? (
          <li key={opinion.score.id}>
            <ScoreShown score={opinion.score} {...shown} />
          </li>
        ) : (
          <li key={`${opinion.kind} ${opinion.id}`}>
            <FeedbackShown item={opinion} {...shown} />
          </li>
        ),
      )}
      {opinions.length < total && (
        <li class="line">
          {onMore !== null && (
            <Button icon="down" onClick={onMore}>
              Show more
            </Button>
          )}
          <span class="soft small">
            the newest {count(opinions.length)} of {counted(total, 'item')}
          </span>
        </li>
      )}
    </ul>
  );
}
