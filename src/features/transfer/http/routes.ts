import { scopesOf } from '../../../engine/identity/key-access.js';
import type { Issue } from '../../../engine/errors.js';
import { MAX_JSON_DEPTH } from '../../../engine/json-text.js';
import { formatTimestamp, type Micros, parseTimestamp } from '../../../engine/timestamp.js';
import { idWriter } from '../../../engine/validation/body-parts.js';
import { assertValid, compileClosed, invalid } from '../../../engine/validation/validation.js';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import type { Part } from '../parts.js';
import type { TransferPage, TransferService } from '../transfer-service.js';
import { AnyBody, BODIES, ExportPage, ImportResult, pageQuery, PartParams, TAG } from './schema.js';

/** Projects that move from one installation to another. */
export function transferRoutes(transfer: TransferService) {
  return [exportRecordsRoute(transfer), importRecordsRoute(transfer)];
}

function exportRecordsRoute(transfer: Pick<TransferService, 'page'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/export/:part',
    operationId: 'exportRecords',
    summary: 'Export records of a project',
    description:
      'Returns a page of one part of the project, complete: `npm run admin -- export` writes all of them to a file. ' +
      'Spans are in storage order. A span that is written again meanwhile moves to the end, so paging until there ' +
      'is no `more` misses none.',
    tag: TAG,
    access: 'key',
    scopes: scopesOf('read'),
    params: PartParams,
    query: pageQuery,
    responses: { 200: { description: 'The page.', schema: ExportPage } },
    errors: ['invalid', 'unavailable'],
    bulk: true,
    async handle({ principal, params: { project_id, part }, query: { after, as_of, limit } }) {
      const asOf = as_of ?? Date.now() * 1000;
      const of = { projectId: project_id, after: after ?? null, limit };
      const page = await transfer.page(part, asOf, of, principal);
      return { status: 200, json: pageJson(page, asOf) };
    },
  });
}

type Members = Readonly<Record<string, unknown>>;

const readers = Object.fromEntries(
  Object.entries(BODIES).map(([part, schema]) => [part, { write: idWriter(schema), fits: compileClosed(schema) }]),
);
/** Times of what may be sent otherwise are read where that is: in any form that clients send. */
const SENT: ReadonlySet<Part> = new Set(['spans', 'traces', 'sessions']);
const OWN_TIMES = ['created_at', 'written_at'];
/** Metadata stand in an array of records, and unknown fields of spans among their attributes: one level deeper than they were sent. */
const DEEPER = 1;

function importRecordsRoute(transfer: Pick<TransferService, 'take'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/import/:part',
    operationId: 'importRecords',
    summary: 'Import records into a project',
    description:
      'Stores records of one part as `GET …/export/{part}` returns them, all or none, with their ids and times: ' +
      '`npm run admin -- import` reads them from a file. Existing records do not change, except for spans that were ' +
      'written later, so repeating a request changes nothing. Judges are disabled, and treat imported spans as old ' +
      'ones.',
    tag: TAG,
    access: 'key',
    params: PartParams,
    body: uncheckedJsonBody(AnyBody, { maxDepth: MAX_JSON_DEPTH + DEEPER }),
    responses: { 200: { description: 'The records are stored.', schema: ImportResult } },
    errors: ['invalid', 'conflict', 'too_large', 'overloaded', 'unavailable'],
    makesWay: true,
    async handle({ principal, params: { part }, body, signal }) {
      const records = recordsIn(part, body);
      return { status: 200, body: await transfer.take(part, principal, records, signal) };
    },
  });
}

function recordsIn(part: Part, body: unknown): Members[] {
  const reader = readers[part];
  if (reader === undefined) throw new Error(`No part: ${part}`);
  const records = assertValid(reader.fits, reader.write(body)) as Members[];
  return withMicros(records, (name) => !SENT.has(part) || OWN_TIMES.includes(name));
}

const isTime = (name: string) => name.endsWith('_at');

/** A page as it is answered, as JSON: records that are texts stay as they are. */
function pageJson(page: TransferPage, asOf: Micros): string {
  const records = page.as === 'texts' ? page.records : page.records.map((record) => JSON.stringify(withTimes(record)));
  const { next, more } = page;
  const head = JSON.stringify({ as_of: formatTimestamp(asOf), next, more });
  return `${head.slice(0, -1)},"records":[${records.join(',\n')}]}`;
}

function withTimes(record: Members): Members {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      isTime(name) && typeof value === 'number' ? formatTimestamp(value) : value,
    ]),
  );
}

/**
 * Records with these of their times as numbers, as services take them.
 * @throws DomainError `invalid` where one lies outside the years that times may be of
 */
function withMicros(records: readonly Members[], convert: (name: string) => boolean): Members[] {
  const issues: Issue[] = [];
  const read = records.map((record, index) => {
    const withNumbers: Record<string, unknown> = { ...record };
    for (const name in record) {
      const value = record[name];
      if (!isTime(name) || !convert(name) || typeof value !== 'string') continue;
      const micros = parseTimestamp(value);
      if (micros === undefined)
        issues.push({ pointer: `/${index}/${name}`, detail: 'must be an ISO 8601 time, from 1970 to 2254' });
      withNumbers[name] = micros;
    }
    return withNumbers;
  });
  if (issues.length > 0) throw invalid(issues);
  return read;
}
