/** Which spans people have given feedback on. Throws DomainError `unavailable`. */
export interface SpansWithFeedback {
  /** Those of some spans that have any. */
  among(projectId: string, spanIds: readonly string[]): string[];
  /** Ids of spans that have any, ascending, after one of them. */
  page(projectId: string, after: string, limit: number): string[];
  /** The arrival of the feedback that came last, of all projects; each arrival is greater than all before it. */
  last(): number;
  /** Spans of a project that got feedback after an arrival, the first of them, and the last arrival among them. */
  since(
    projectId: string,
    arrival: number,
    limit: number,
  ): { readonly spanIds: readonly string[]; readonly last: number };
}
