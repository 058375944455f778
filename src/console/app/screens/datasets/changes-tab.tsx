import { count } from '../../../model/format.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { place, setQuery } from '../../state/location.js';
import { offsetAsked } from '../prompts/asked.js';
import { ChangeShown } from './change-shown.js';
import { pathOfDataset, ROWS_SHOWN, useChanges, useTags, useVersions } from './data.js';
import type { TabProps } from './tab-props.js';
import { numberIn, VersionSelect } from './version-choice.js';

/** How two versions differ, row by row. */
export function ChangesTab({ dataset: { name, latest_version } }: TabProps) {
  const { query } = place.value;
  const newest = latest_version?.version_number ?? 0;
  const to = numberIn(query.get('to')) ?? newest;
  const from = numberIn(query.get('from')) ?? Math.max(1, to - 1);
  const offset = offsetAsked();
  const versions = useVersions(name).data ?? [];
  const tags = useTags(name).data ?? [];
  const answer = useChanges({ name, from, to, offset, enabled: newest > 0 });
  if (newest === 0) return <Empty title="No versions yet">The first rows make version 1.</Empty>;
  const shared = { versions, tags };
  const choose = (side: 'from' | 'to') => (number: number) =>
    setQuery({ from: String(from), to: String(to), [side]: String(number), offset: null });
  return (
    <div class="stack">
      <div class="line apart">
        <div class="line">
          <VersionSelect label="Compare" {...shared} number={from} onChoose={choose('from')} />
          <VersionSelect label="with" {...shared} number={to} onChoose={choose('to')} />
        </div>
        <CopyAsCurl path={`${pathOfDataset(name)}/diff`} query={{ from, to }} />
      </div>
      <Answered answer={answer}>
        {({ added, changed, removed, rows }) => {
          const total = added + changed + removed;
          if (total === 0) return <Empty title="No differences">Both versions have the same rows.</Empty>;
          return (
            <div class="stack">
              <p class="line" role="status">
                <span class="badge good">{count(added)} added</span>
                <span class="badge warn">{count(changed)} changed</span>
                <span class="badge bad">{count(removed)} removed</span>
              </p>
              <ol class="stack dataset-changes">
                {rows.map((row) => (
                  <li key={row.row_id} class="card stack">
                    <ChangeShown row={row} labels={[`Version ${from}`, `Version ${to}`]} />
                  </li>
                ))}
              </ol>
              <Pager offset={offset} limit={ROWS_SHOWN} shown={rows.length} total={total} />
            </div>
          );
        }}
      </Answered>
    </div>
  );
}
