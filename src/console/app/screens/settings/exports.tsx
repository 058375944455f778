import { useState } from 'preact/hooks';
import type { ScheduledExportRead } from '../../../../features/scheduled-exports/schema.js';
import { count } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Confirm } from '../../parts/dialog.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { announce, announceError } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { ExportDialog } from './export-dialog.js';

const PATH = () => ofProject('/scheduled-exports');

/** Exports of lists to the operator's bucket, every so often. */
export default function Exports() {
  const [creating, setCreating] = useState(false);
  const [removing, setRemoving] = useState<ScheduledExportRead | null>(null);
  const answer = useQuery({
    key: [PATH()],
    ask: (signal) => call('GET /projects/:project_id/scheduled-exports', { signal }),
    every: 10_000,
    keep: false,
  });
  const close = () => setRemoving(null);
  return (
    <section class="stack" aria-labelledby="exports">
      <div class="line apart">
        <h2 id="exports">Scheduled exports</h2>
        <div class="line">
          <CopyAsCurl path={PATH()} />
          <Button icon="plus" changes onClick={() => setCreating(true)}>
            Schedule export
          </Button>
        </div>
      </div>
      <p class="soft">
        Lists are exported to the operator’s bucket, each version of a row once. Deletions are not exported.
      </p>
      <Answered answer={answer} rows={2}>
        {(exports) =>
          exports.length === 0 ? (
            <p class="soft">No scheduled exports yet.</p>
          ) : (
            <DataTable
              caption="Scheduled exports"
              columns={columnsOf(setRemoving)}
              rows={exports}
              idOf={({ id }) => id}
            />
          )
        }
      </Answered>
      {creating && <ExportDialog onClose={() => setCreating(false)} />}
      {removing !== null && (
        <Confirm
          title="Delete this export?"
          action="Delete export"
          onConfirm={() => void act('deleted', removing).then(close)}
          onClose={close}
        >
          <p>
            <bdi>{removing.name}</bdi> ends. Its objects stay in the bucket.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function columnsOf(remove: (of: ScheduledExportRead) => void): Column<ScheduledExportRead>[] {
  return [
    {
      name: 'name',
      label: 'Export',
      cell: ({ name, list, query, format, every_minutes }) => (
        <>
          <bdi>{name}</bdi>{' '}
          <span class="soft">
            {list} <bdi>{query}</bdi>, {format}, every {every_minutes} min
          </span>
        </>
      ),
      full: ({ query }) => query,
    },
    {
      name: 'state',
      label: 'State',
      cell: ({ paused, error }) => (
        <span class={`badge ${error !== null ? 'bad' : paused ? '' : 'good'}`} title={error ?? undefined}>
          {error !== null ? 'failed' : paused ? 'paused' : 'active'}
        </span>
      ),
    },
    { name: 'rows', label: 'Rows', figure: true, named: true, cell: ({ rows }) => count(rows) },
    { name: 'objects', label: 'Objects', figure: true, named: true, cell: ({ objects }) => count(objects) },
    { name: 'last', label: 'Last object', named: true, cell: ({ last_at }) => <When at={last_at} /> },
    {
      name: 'next',
      label: 'Next',
      named: true,
      cell: ({ next_at, paused }) => (paused ? 'paused' : <When at={next_at} />),
    },
    {
      name: 'actions',
      label: 'Actions',
      cell: (row) => (
        <span class="line">
          <Button
            icon={row.paused ? 'live' : 'pause'}
            look="quiet"
            changes
            label={row.paused ? `Resume ${row.name}` : `Pause ${row.name}`}
            onClick={() => void act('changed', row)}
          />
          {!row.paused && (
            <Button
              icon="refresh"
              look="quiet"
              changes
              label={`${row.error === null ? 'Run' : 'Retry'} ${row.name} now`}
              onClick={() => void act('run', row)}
            />
          )}
          <Button icon="trash" look="quiet" changes label={`Delete ${row.name}`} onClick={() => remove(row)} />
        </span>
      ),
    },
  ];
}

const SAID = { deleted: 'Export deleted', changed: 'Export changed', run: 'Exporting' } as const;

/** Deletes an export, pauses or resumes it, or has it run now. */
async function act(what: keyof typeof SAID, { id, paused }: ScheduledExportRead): Promise<void> {
  const params = { export_id: id };
  try {
    if (what === 'deleted') await call('DELETE /projects/:project_id/scheduled-exports/:export_id', { params });
    else if (what === 'run') await call('POST /projects/:project_id/scheduled-exports/:export_id:run', { params });
    else await call('PATCH /projects/:project_id/scheduled-exports/:export_id', { params, body: { paused: !paused } });
    announce(SAID[what]);
  } catch (error) {
    announceError(error);
  }
  await changedAt(PATH());
}
