import { counted } from '../../../model/format.js';
import { Answered } from '../../parts/states.js';
import { useScores } from './data.js';
import { ScoreShown } from './opinion-shown.js';

/** Most scores of one span that are shown. */
const SHOWN = 1_000;

/** The scores of a span, beside which stands what judges and people say of it. */
export function SpanScores({ id }: { readonly id: string }) {
  const of = { type: 'span', id } as const;
  const answer = useScores(of, { limit: SHOWN });
  return (
    <>
      <h3>Scores</h3>
      <Answered answer={answer} rows={1}>
        {({ rows, total }) => (
          <div class="stack">
            {rows.length === 0 && (
              <p class="soft">
                No scores of this span. Press <kbd>s</kbd> to add one.
              </p>
            )}
            {rows.map((score) => (
              <ScoreShown key={score.id} score={score} shownOn={of} />
            ))}
            {(total ?? 0) > rows.length && (
              <p class="soft">
                Showing the newest {rows.length} of {counted(total ?? 0, 'score')}.
              </p>
            )}
          </div>
        )}
      </Answered>
    </>
  );
}
