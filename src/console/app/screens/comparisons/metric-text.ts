import { MAX_PAGE, useJudges } from '../judges/lists.js';

const JUDGES = /judge:([0-9a-f-]{36})/g;

/** Writes the names of metrics, also within sentences, as people know them: those of judges by the judge's name. */
export function useMetricText(): (text: string) => string {
  const judges = useJudges({ offset: 0, limit: MAX_PAGE }).data ?? [];
  return (text) => text.replace(JUDGES, (name, id) => judges.find((judge) => judge.id === id)?.name ?? name);
}
