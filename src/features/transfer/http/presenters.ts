import type { Issue } from '../../../engine/errors.js';
import type { TransferPage } from '../transfer-service.js';
import { formatTimestamp, parseTimestamp, type Micros } from '../../../engine/timestamp.js';
import { invalid } from '../../../engine/validation/validation.js';

type Members = Readonly<Record<string, unknown>>;

const isTime = (name: string) => name.endsWith('_at');

/** A page as it is answered, as JSON: records that are texts stay as they are. */
export function pageJson(page: TransferPage, asOf: Micros): string {
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
export function withMicros(records: readonly Members[], convert: (name: string) => boolean): Members[] {
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
