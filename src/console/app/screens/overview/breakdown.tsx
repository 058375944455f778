import type { ListDefinition } from '../../../../engine/traces/model/list/definitions.js';
import { compact, count, percent } from '../../../model/format.js';
import { fieldLabel } from '../../../model/list-query.js';
import { boundsOf, rangeOf } from '../../../model/range.js';
import { filterOfGroup, tokensOf, type FiguresRead, type GroupRead } from '../../../model/statistics.js';
import { Cost, Took } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call } from '../../state/api.js';
import { hrefOf, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';

interface BreakdownProps {
  readonly list: ListDefinition;
  readonly title: string;
  /** What it is grouped by. */
  readonly field: string;
  readonly filters?: Readonly<Record<string, string>>;
  /** Whether objects without a value are none of its business. */
  readonly withoutNone?: boolean;
}

/** Figures of the most frequent values of a field, and of the rest. */
export function Breakdown({ list, title, field, filters = {}, withoutNone = false }: BreakdownProps) {
  const query = { ...boundsOf(rangeOf(place.value.query)), ...filters, group_by: field, bucket: '3650d' };
  const answer = useQuery({
    key: [`/${list.name}`, 'stats', query],
    ask: (signal) => call(`GET /${list.name}:stats`, { query, signal }),
  });
  return (
    <section class="stack">
      <h2>{title}</h2>
      <Answered answer={answer} rows={4}>
        {({ groups, rest }) => {
          const shown = groups.filter(({ value }) => !withoutNone || (value !== null && value !== ''));
          if (shown.length === 0) return <p class="soft">None in this time range.</p>;
          return (
            <div class="table-box" role="region" aria-label={title} tabIndex={0}>
              <table class="table">
                <Head list={list} />
                <tbody>
                  {shown.map((group) => (
                    <Row key={String(group.value)} list={list} field={field} filters={filters} group={group} />
                  ))}
                  {rest !== null && !withoutNone && (
                    <tr>
                      <td class="soft">all others</td>
                      <FigureCells of={rest.totals} />
                    </tr>
                  )}
                </tbody>
              </table>
            </div>
          );
        }}
      </Answered>
    </section>
  );
}

function Head({ list }: Pick<BreakdownProps, 'list'>) {
  return (
    <thead>
      <tr>
        <th scope="col">
          <span class="unseen">Value</span>
        </th>
        <th scope="col" class="num">
          {fieldLabel(list.name)}
        </th>
        <th scope="col" class="num">
          Errors
        </th>
        <th scope="col" class="num">
          Cost
        </th>
        <th scope="col" class="num">
          Tokens
        </th>
        <th scope="col" class="num">
          p50
        </th>
        <th scope="col" class="num">
          p95
        </th>
      </tr>
    </thead>
  );
}

interface RowProps extends Pick<BreakdownProps, 'list' | 'field'> {
  readonly filters: Readonly<Record<string, string>>;
  readonly group: GroupRead;
}

function Row({ list, field, filters, group: { value, totals } }: RowProps) {
  const found = filterOfGroup(list, field, value);
  const time = Object.fromEntries([...place.value.query].filter(([name]) => ['range', 'from', 'to'].includes(name)));
  const label = value === null || value === '' ? <span class="soft">none</span> : <bdi>{String(value)}</bdi>;
  return (
    <tr>
      <td title={value === null ? undefined : String(value)}>
        {found === null ? (
          label
        ) : (
          <a href={hrefOf({ screen: list.name, query: { ...time, ...filters, ...found } })}>{label}</a>
        )}
      </td>
      <FigureCells of={totals} />
    </tr>
  );
}

function FigureCells({ of: totals }: { readonly of: FiguresRead }) {
  const { count: all = 0, error_count: errors = 0 } = totals;
  return (
    <>
      <td class="num">{count(all)}</td>
      <td class="num" title={percent(all === 0 ? null : errors / all)}>
        {count(errors)}
      </td>
      <td class="num">
        <Cost of={totals.cost} />
      </td>
      <td class="num">{compact(tokensOf(totals))}</td>
      <td class="num">
        <Took ms={totals.duration_ms?.p50} />
      </td>
      <td class="num">
        <Took ms={totals.duration_ms?.p95} />
      </td>
    </>
  );
}
