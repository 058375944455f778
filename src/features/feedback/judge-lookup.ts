/** The fields of a judge that feedback is checked by. */
export interface FeedbackJudge {
  readonly id: string;
  /** Slug of the prompt that holds its instruction. */
  readonly task_slug: string;
  readonly evaluation_type: 'binary' | 'scored';
  /** Range of the scores of a scored judge. */
  readonly score_min: number | null;
  readonly score_max: number | null;
  readonly criteria: readonly { readonly key: string }[];
}

export interface JudgeLookup {
  /** A judge that is not deleted. @throws DomainError `unavailable` */
  find(projectId: string, judgeId: string): FeedbackJudge | undefined;
}
