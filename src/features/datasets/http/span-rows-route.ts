import { spanList } from '../../../engine/traces/model/list/definitions.js';
import { invalid } from '../../../engine/validation/validation.js';
import { parseListQuery } from '../../../http/list-query.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { SpanRowsInput, SpanRowsRead } from '../schema.js';
import { EXPECTED_OUTPUT, type SpanRows } from '../span-rows.js';
import { DatasetParams, TAG } from './parameters.js';
import { toVersionRead } from './presenters.js';

const MEMBERS = /^(?:attributes|tags)\../;

/** Makes rows of spans. */
export function addSpanRowsRoute(spanRows: SpanRows) {
  return defineRoute({
    method: 'POST',
    path: '/v1/datasets/:name+/rows:from_spans',
    operationId: 'addDatasetRowsFromSpans',
    summary: 'Add spans to a dataset',
    description:
      'Makes rows of spans and merges them into the dataset as its next version. The id of a row is that of its span, so a span is in a ' +
      'dataset once. Spans whose row the dataset has, or whose content another row has, are left out. If the span is deleted, its row is erased from every version; ' +
      'retention of traces leaves rows alone.',
    tag: TAG,
    access: 'key',
    scopes: ['datasets:write', 'spans:read'],
    bulk: true,
    params: DatasetParams,
    body: jsonBody(SpanRowsInput),
    responses: { 200: { description: 'What became of the spans.', schema: SpanRowsRead } },
    errors: ['not_found', 'conflict', 'too_large', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params, body, signal }) {
      const { query, span_ids, mapping, sample, seed, stratify_by, overwrite, dry_run, message } = body;
      requireFields(mapping, stratify_by ?? null);
      if ((query == null) === (span_ids == null))
        throw invalid([{ pointer: '/query', detail: 'must be given, or span_ids, but not both' }]);
      const request = {
        query: query == null ? null : parseListQuery(spanList, new URLSearchParams(query)),
        spanIds: span_ids ?? [],
        mapping,
        sample: sample ?? null,
        seed: seed ?? '',
        stratifyBy: stratify_by ?? null,
        overwrite: overwrite ?? false,
        dryRun: dry_run ?? false,
        message: message ?? '',
      };
      const { version, preview, ...counts } = await spanRows.add(principal, params.name, request, signal);
      const head = JSON.stringify({ ...counts, version: version && toVersionRead(version) });
      return { status: 200, json: `${head.slice(0, -1)},"preview":[${preview.join(',')}]}` };
    },
  });
}

/** @throws DomainError `invalid` where something is said to come from what is no field of spans */
function requireFields(mapping: Readonly<Record<string, string>>, stratifyBy: string | null): void {
  const isField = (name: string) => Object.hasOwn(spanList.fields, name);
  const detail = 'must be a field of spans, attributes.<key>, tags.<key> or feedback.expected_output';
  const issues = Object.entries(mapping)
    .filter(([, source]) => source !== EXPECTED_OUTPUT && !MEMBERS.test(source) && !isField(source))
    .map(([column]) => ({ pointer: `/mapping/${column}`, detail }));
  if (Object.hasOwn(mapping, 'row_id'))
    issues.push({ pointer: '/mapping/row_id', detail: 'is the id of the span: choose another column' });
  const groups: readonly string[] = spanList.groups;
  if (stratifyBy !== null && !groups.includes(stratifyBy))
    issues.push({ pointer: '/stratify_by', detail: `must be one of ${groups.join(', ')}` });
  if (issues.length > 0) throw invalid(issues);
}
