import { useState } from 'preact/hooks';
import type { Experiment } from '../../../model/experiments.js';
import { lackingJudges, type LackingJudge } from '../../../model/judge-runs.js';
import { Button } from '../../parts/button.js';
import { RunJudge } from '../experiments/run-judge.js';

interface LackingJudgesProps {
  readonly candidate: Experiment;
  readonly baseline: Experiment;
}

/** Judges whose verdicts cannot be compared yet, each with what has it evaluate the other experiment. */
export function LackingJudges({ candidate, baseline }: LackingJudgesProps) {
  const [running, setRunning] = useState<LackingJudge | null>(null);
  const sides = { candidate, baseline };
  return (
    <>
      {lackingJudges(candidate, baseline).map((lacking) => (
        <p key={lacking.judge.judge_id} class="line">
          <span>
            <b>
              <bdi>{lacking.judge.name}</bdi>
            </b>{' '}
            {lacking.differs
              ? 'evaluated the two with different versions, so its verdicts cannot be compared.'
              : `has not evaluated the ${lacking.lacks} yet, so its verdicts cannot be compared.`}
          </span>
          <Button icon="judges" changes="judges:write" onClick={() => setRunning(lacking)}>
            Run it on the {lacking.lacks}
          </Button>
        </p>
      ))}
      {running !== null && (
        <RunJudge
          experiment={sides[running.lacks]}
          other={sides[running.lacks === 'candidate' ? 'baseline' : 'candidate']}
          judgeId={running.judge.judge_id}
          onClose={() => setRunning(null)}
        />
      )}
    </>
  );
}
