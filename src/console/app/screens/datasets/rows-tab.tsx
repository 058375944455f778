import { useState } from 'preact/hooks';
import {
  changesIn,
  columnsWith,
  emptyDraft,
  rowsWith,
  withAdded,
  withChanged,
  withoutAdded,
  withRemoved,
  type DatasetDraft,
  type RowData,
  type ShownRow,
} from '../../../model/dataset-draft.js';
import { Button } from '../../parts/button.js';
import { DownloadMenu } from '../../parts/download-menu.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefWith, place, setQuery } from '../../state/location.js';
import { mayChange } from '../../state/session.js';
import { offsetAsked } from '../prompts/asked.js';
import { pathOfDataset, ROWS_SHOWN, useRows, useTags, useVersions } from './data.js';
import { DraftBar } from './draft-bar.js';
import { RowEditor } from './row-editor.js';
import { RowView } from './row-view.js';
import { RowsGrid } from './rows-grid.js';
import type { TabProps } from './tab-props.js';
import { UploadDialog } from './upload-dialog.js';
import { numberIn, VersionChoice, VersionLine } from './version-choice.js';

/** The rows of a version; those of the newest one can be changed. */
export function RowsTab({ dataset, kept }: TabProps) {
  const { query } = place.value;
  const newest = dataset.latest_version?.version_number ?? 0;
  const number = numberIn(query.get('version')) ?? newest;
  const offset = offsetAsked();
  const versions = useVersions(dataset.name);
  const tags = useTags(dataset.name).data ?? [];
  const answer = useRows(dataset.name, number, offset);
  const [uploading, setUploading] = useState(false);
  const [editing, setEditing] = useState<ShownRow | 'new' | null>(null);
  // Rows of another version or page, which are shown until these are there, are none to change.
  const isEditable = number === newest && mayChange() && !answer.isPlaceholderData;
  const draft = changesIn(kept.draft) === 0 ? emptyDraft(newest) : kept.draft;
  const stored = answer.data?.rows ?? [];
  const rows = number === newest ? rowsWith(draft, stored) : rowsWith(emptyDraft(number), stored);
  const columns = columnsWith(answer.data?.version.columns ?? [], number === newest ? draft : emptyDraft(number));
  const viewed = rows.find(({ row_id, key }) => key === null && row_id === query.get('row'));
  const closeView = () => setQuery({ row: null }, { replace: true });
  const { remove, save } = editsOf(draft, kept.change);
  const grid = <RowsGrid {...{ rows, columns, isEditable }} onEdit={setEditing} onRemove={remove} onSave={save} />;
  return (
    <div class="stack">
      <div class="line apart">
        {newest > 0 && <VersionChoice versions={versions.data ?? []} tags={tags} number={number} newest={newest} />}
        <Actions
          name={dataset.name}
          number={number}
          isNewest={number === newest}
          onUpload={() => setUploading(true)}
          onAdd={() => setEditing('new')}
        />
      </div>
      <VersionLine version={versions.data?.find((version) => version.version_number === number)} />
      {rows.length === 0 && (newest === 0 || answer.data?.total_rows === 0) ? (
        <NoRows />
      ) : newest === 0 ? (
        grid
      ) : (
        <Answered answer={answer}>
          {(page) => (
            <>
              {grid}
              <Pager offset={offset} limit={ROWS_SHOWN} shown={page.rows.length} total={page.total_rows} />
            </>
          )}
        </Answered>
      )}
      {number !== newest && (
        <p class="soft">
          This version never changes.{' '}
          <a href={hrefWith({ version: null, offset: null, row: null })}>Show version {newest}</a> to change rows.
        </p>
      )}
      <DraftBar dataset={dataset} draft={draft} kept={kept} />
      {viewed !== undefined && editing === null && (
        <RowView
          row={viewed}
          columns={columns}
          onClose={closeView}
          {...(isEditable && { onEdit: () => setEditing(viewed) })}
        />
      )}
      {editing !== null && (
        <RowEditor
          row={editing === 'new' ? null : editing}
          columns={columns}
          like={rows[0]?.data ?? {}}
          onSave={(row_id, data) => save(editing === 'new' ? null : editing, row_id, data)}
          onClose={() => {
            setEditing(null);
            if (viewed !== undefined) closeView();
          }}
        />
      )}
      {uploading && <UploadDialog dataset={dataset} onClose={() => setUploading(false)} />}
    </div>
  );
}

/** What is done to rows becomes a part of the draft. */
function editsOf(draft: DatasetDraft, change: (draft: DatasetDraft) => void) {
  return {
    remove: ({ key, row_id, state }: ShownRow) =>
      change(key === null ? withRemoved(draft, row_id ?? '', state !== 'removed') : withoutAdded(draft, key)),
    /** @param row null: a new one */
    save: (row: ShownRow | null, row_id: string | null, data: RowData) =>
      change(
        row?.stored == null
          ? withAdded(draft, row?.key ?? null, { row_id, data })
          : withChanged(draft, row.row_id ?? '', data, row.stored),
      ),
  };
}

interface ActionsProps {
  readonly name: string;
  /** Of the version that is shown; 0: there is none. */
  readonly number: number;
  readonly isNewest: boolean;
  readonly onUpload: () => void;
  readonly onAdd: () => void;
}

function Actions({ name, number, isNewest, onUpload, onAdd }: ActionsProps) {
  return (
    <div class="line">
      {number > 0 && (
        <DownloadMenu
          path={`${pathOfDataset(name)}/download`}
          query={new URLSearchParams({ ref: String(number) })}
          label="Download"
        />
      )}
      <Button changes onClick={onUpload}>
        Upload file
      </Button>
      <Button
        icon="plus"
        changes
        refused={isNewest || !mayChange() ? null : 'Older versions never change: show the newest one'}
        onClick={onAdd}
      >
        Add row
      </Button>
    </div>
  );
}

function NoRows() {
  return (
    <Empty title="No rows yet">
      <p>
        Upload a file, add rows here, or choose spans in the list of spans and press “Add to dataset”. The first rows
        make version 1.
      </p>
    </Empty>
  );
}
