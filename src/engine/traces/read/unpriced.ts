import { PRICED_KINDS } from '../model/span/usage.js';
import { number, sql, value } from '../clickhouse/client/sql.js';

/** In bytes. What is longer is the name of no model, and a page of them would be as large as a client likes. */
const LONGEST_NAME = 4096;

/** Spans that a price would give a cost: paid calls that say their model and their tokens. */
export const unpriced = sql`kind IN ${value([...PRICED_KINDS], 'Array(String)')} AND isNull(spans.cost)
  AND spans.model != '' AND isNotNull(spans.input_tokens)
  AND length(spans.provider) <= ${number(LONGEST_NAME)} AND length(spans.model) <= ${number(LONGEST_NAME)}`;
