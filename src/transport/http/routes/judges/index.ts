import type { EvaluationLists } from '../../../../domain/judge/evaluation-lists.js';
import type { EvaluationService } from '../../../../domain/judge/evaluation-service.js';
import type { ExplainService } from '../../../../domain/judge/explain-service.js';
import type { JudgeFigureService } from '../../../../domain/judge-figures/judge-figures.js';
import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import type { PreviewService } from '../../../../domain/judge/preview-service.js';
import type { RunService } from '../../../../domain/judge/run-service.js';
import type { Route } from '../../route.js';
import { createJudgeRoute } from './create-judge.js';
import { deleteJudgeRoute } from './delete-judge.js';
import { explainSpanRoute } from './explain-span.js';
import { getCriteriaRoute } from './get-criteria.js';
import { getJudgeRoute } from './get-judge.js';
import { listEvaluationsRoute } from './list-evaluations.js';
import { listJudgesRoute } from './list-judges.js';
import { listRunsRoute } from './list-runs.js';
import { listSpanEvaluationsRoute } from './list-span-evaluations.js';
import { previewJudgeRoute } from './preview-judge.js';
import { recordEvaluationRoute } from './record-evaluation.js';
import { retryRunsRoute } from './retry-runs.js';
import { runJudgeRoute } from './run-judge.js';
import { summariseJudgesRoute } from './summarise-judges.js';
import { updateJudgeRoute } from './update-judge.js';

export interface JudgeServices {
  readonly judges: JudgeService;
  readonly evaluations: EvaluationService;
  readonly evaluationLists: EvaluationLists;
  readonly runs: RunService;
  readonly explanations: ExplainService;
  readonly previews: PreviewService;
  readonly judgeFigures: JudgeFigureService;
}

/** Judges, what they found, and what they are about to look at. */
export function judgeRoutes({
  judges,
  evaluations,
  evaluationLists,
  runs,
  explanations,
  previews,
  judgeFigures,
}: JudgeServices): Route[] {
  return [
    createJudgeRoute(judges),
    previewJudgeRoute(previews),
    summariseJudgesRoute(judgeFigures),
    listJudgesRoute(judges, judgeFigures),
    getJudgeRoute(judges),
    updateJudgeRoute(judges),
    deleteJudgeRoute(judges),
    getCriteriaRoute(judges),
    listEvaluationsRoute(evaluationLists),
    recordEvaluationRoute(evaluations),
    listSpanEvaluationsRoute(evaluationLists),
    runJudgeRoute(runs),
    retryRunsRoute(runs),
    listRunsRoute(runs),
    explainSpanRoute(explanations),
  ];
}
