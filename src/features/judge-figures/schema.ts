import { Type, type Static } from '@sinclair/typebox';
import { JudgeRead } from '../judges/schema.js';
import { Interval } from '../calibration/schema.js';
import { count, number, orNull, uuid } from '../../engine/schema/parts.js';

const counted = {
  evaluations: count('Evaluations stored in this period.'),
  passed: count('Evaluations in which the span passed.'),
  rate: orNull(number('`passed` divided by `evaluations`; null without any.')),
  rate_interval: Interval("Wilson's interval of the rate, 95 %; null without any."),
  queued: count('Evaluations that are currently waiting or running.'),
  failed: count('Permanently failed evaluations of all time: the failed runs of the list of runs.'),
};

export const JudgeFiguresRead = Type.Object(
  {
    judge_id: uuid('Id of the judge.'),
    judge_name: Type.String({ description: 'Name of the judge.' }),
    ...counted,
  },
  { $id: 'JudgeFigures', description: 'Results of a judge, and its waiting and failed evaluations.' },
);
export type JudgeFiguresRead = Static<typeof JudgeFiguresRead>;

export const ListedJudgeRead = Type.Object(
  {
    ...JudgeRead.properties,
    figures: Type.Optional(
      Type.Object(
        {
          ...counted,
          kappa: orNull(
            number("Cohen's κ of judge and people for the judge's newest version, as the calibration report has it."),
          ),
          kappa_interval: Interval('Its interval; null if it is not defined.'),
          kappa_version: orNull(
            Type.String({ description: 'Name of that version in the calibration report; null: there is none.' }),
          ),
        },
        { description: 'Only with `include=figures`.' },
      ),
    ),
  },
  { $id: 'ListedJudge', description: 'A judge with its results.' },
);
export type ListedJudgeRead = Static<typeof ListedJudgeRead>;
