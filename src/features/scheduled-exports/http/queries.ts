import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import { sessionList, spanList, traceList } from '../../../engine/traces/model/list/definitions.js';
import { invalid } from '../../../engine/validation/validation.js';
import { parseShown } from '../../../http/list-query.js';
import { unknownParameterIssues, unknownParameters, type QueryDefinition } from '../../../http/query.js';
import { selectedFeedback } from '../../feedback/http/list-query.js';
import { selectedScores } from '../../scores/http/list-query.js';

const shown = (list: ListDefinition) => (text: string) => parseShown(list, new URLSearchParams(text));

/** What a schedule's query asks of its list. Each throws DomainError `invalid`. */
export const QUERIES = {
  spans: shown(spanList),
  traces: shown(traceList),
  sessions: shown(sessionList),
  scores: strict(selectedScores),
  feedback: strict(selectedFeedback),
};

/** As for the query of a call: what it does not know, it refuses. */
function strict<Q>({ schema, parse }: QueryDefinition<Q>): (text: string) => Q {
  return (text) => {
    const search = new URLSearchParams(text);
    const issues = unknownParameterIssues(schema, unknownParameters(schema, search));
    if (issues.length > 0) throw invalid(issues);
    return parse(search);
  };
}
