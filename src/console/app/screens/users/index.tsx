import { compact, count, counted } from '../../../model/format.js';
import { USER_TAG } from '../../../model/list-query.js';
import { rangeOf, RANGE_PARAMETERS } from '../../../model/range.js';
import { sortedUsers, sortNamed, type UserFigures, type UserRow } from '../../../model/users.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, When } from '../../parts/figures.js';
import { RangePicker } from '../../parts/range-picker.js';
import { Answered, Empty, Failure } from '../../parts/states.js';
import { VisibleText } from '../../parts/visible-text.js';
import { base, hrefOf, hrefWith, place, setQuery } from '../../state/location.js';
import { usersAsked, useUserFigures, useUsers } from './data.js';

const LONGEST_NAME = 200;

/** For whom traces were made, by the tag `user`: what they did, and what it cost. */
export default function Users() {
  const { query } = place.value;
  const q = query.get('q') ?? '';
  const asked = usersAsked(q);
  const answer = useUsers(asked);
  const figures = useUserFigures(answer);
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Users</h1>
        <div class="line">
          <RangePicker range={rangeOf(query)} />
          <CopyAsCurl path="/traces:facets" query={asked} />
        </div>
      </header>
      <Answered answer={answer}>
        {({ values, total }) =>
          total === 0 && q === '' ? (
            <NoUsers />
          ) : (
            <div class="stack">
              <Search q={q} shown={values.length} total={total} />
              {figures.error !== null && <Failure error={figures.error} retry={() => void figures.refetch()} />}
              {values.length === 0 ? (
                <Empty title="No users match">
                  <a href={hrefWith({ q: null })}>Show all users</a>
                </Empty>
              ) : (
                <UserTable
                  rows={values.map(({ value, count: traces }) => {
                    const user = String(value);
                    return { user, traces, figures: figures.data?.get(user) };
                  })}
                />
              )}
            </div>
          )
        }
      </Answered>
    </div>
  );
}

/** No one did anything in this time: another may show more, or no trace says for whom it is. */
function NoUsers() {
  const isAll = rangeOf(place.value.query).range === 'all';
  return (
    <Empty title={isAll ? 'No users yet' : 'No users in this time range'}>
      {!isAll && (
        <p>
          <a href={hrefWith({ range: 'all', from: null, to: null })}>Show users of all time</a>, or choose another time
          range above.
        </p>
      )}
      <p>
        Users appear here when traces name them: send the attribute <code>user.id</code> or <code>enduser.id</code> with
        OpenTelemetry, or the tag <code>user</code> in <code>trace_tags</code> of a span. See{' '}
        <a href={`${base}/docs`}>the documentation</a>.
      </p>
    </Empty>
  );
}

function Search({ q, shown, total }: { readonly q: string; readonly shown: number; readonly total: number }) {
  return (
    <div class="line">
      <input
        class="input"
        type="search"
        aria-label="Search users by the beginning of their ID"
        placeholder="Search by ID"
        maxLength={LONGEST_NAME}
        value={q}
        onInput={({ currentTarget: { value } }) => setQuery({ q: value === '' ? null : value }, { replace: true })}
      />
      <span class="soft" role="status">
        {shown < total
          ? `Top ${count(shown)} of ${counted(total, 'user')} by traces; search finds the others`
          : counted(total, 'user')}
      </span>
    </div>
  );
}

function UserTable({ rows }: { readonly rows: readonly UserRow[] }) {
  const { query } = place.value;
  const sort = sortNamed(query.get('sort_by'));
  const descending = query.get('sort_order') !== 'asc';
  return (
    <DataTable
      caption="Users"
      columns={COLUMNS}
      rows={sortedUsers(rows, sort, descending)}
      idOf={({ user }) => user}
      hrefOf={({ user }) => tracesOf(user)}
      sorting={{
        by: sort,
        descending,
        onSort: (by, down) =>
          setQuery({ sort_by: by === 'traces' ? null : by, sort_order: down ? null : 'asc' }, { replace: true }),
      }}
    />
  );
}

/** The list of a user's traces in the time that is shown. */
function tracesOf(user: string, more: Readonly<Record<string, string>> = {}): string {
  const time = [...place.value.query].filter(([name]) => RANGE_PARAMETERS.some((parameter) => parameter === name));
  return hrefOf({ screen: 'traces', query: { ...Object.fromEntries(time), [`tags.${USER_TAG}`]: user, ...more } });
}

const COLUMNS: readonly Column<UserRow>[] = [
  {
    name: 'user',
    label: 'User',
    cell: ({ user }) => (
      <bdi>
        <VisibleText text={user.slice(0, LONGEST_NAME)} most={20} />
      </bdi>
    ),
    full: ({ user }) => user,
  },
  figure('traces', 'Traces', ({ traces }) => count(traces)),
  figure('errors', 'Errors', ({ errors }, user) =>
    errors === 0 ? count(errors) : <a href={tracesOf(user, { has_error: 'true' })}>{count(errors)}</a>,
  ),
  figure('cost', 'Cost', ({ cost }) => <Cost of={cost} />),
  figure('tokens', 'Tokens', ({ tokens }) => <span title={count(tokens)}>{compact(tokens)}</span>),
  figure('last', 'Last seen', ({ last }) => <When at={last} relative />),
];

/** A column of what comes after the users themselves: until then its place is kept free. */
function figure(
  name: keyof UserFigures,
  label: string,
  write: (figures: UserFigures, user: string) => ReturnType<Column<UserRow>['cell']>,
): Column<UserRow> {
  return {
    name,
    label,
    figure: true,
    named: true,
    sort: name,
    cell: ({ user, traces, figures }) =>
      figures !== undefined ? write(figures, user) : name === 'traces' ? count(traces) : '',
  };
}
