/** How many people gave a completion itself thumbs up, and down. */
export interface Thumbs {
  readonly up: number;
  readonly down: number;
}

/** The latest evaluation of a completion by a judge. */
export interface JudgeVerdict {
  readonly judge_id: string;
  readonly judge_name: string;
  readonly evaluation_id: string;
  readonly evaluation_result: boolean;
  readonly score: number | null;
}

/** What people and judges said of completions, by the id of the span. Each throws DomainError `unavailable`. */
export interface CompletionOpinions {
  thumbs(projectId: string, promptId: string, ids: readonly string[]): Map<string, Thumbs>;
  /** The latest verdict of each judge. @param judgeId the only judge; null: all */
  verdicts(projectId: string, judgeId: string | null, ids: readonly string[]): Map<string, readonly JudgeVerdict[]>;
}
