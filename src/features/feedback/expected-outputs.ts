/** The outputs that people expected of spans, by the id of the span. */
export interface ExpectedOutputs {
  /** @throws DomainError `unavailable` */
  of(projectId: string, spanIds: readonly string[]): ReadonlyMap<string, string>;
}
