import { useState } from 'preact/hooks';
import type { ScoreDefinitionRead } from '../../../../features/scores/schema.js';
import { counted } from '../../../model/format.js';
import { KIND_LABELS, rulesOf } from '../../../model/score-draft.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { DownloadMenu } from '../../parts/download-menu.js';
import { Ending } from '../../parts/ending.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { ofProject, pathOf } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { useScoreDefinitions } from '../../state/score-definitions.js';
import { DefinitionDialog } from './definition-dialog.js';

/** What the scores of the project may be, and what they mean. */
export default function Definitions() {
  const [editing, setEditing] = useState<ScoreDefinitionRead | 'new' | null>(null);
  const [removing, setRemoving] = useState<ScoreDefinitionRead | null>(null);
  const answer = useScoreDefinitions();
  return (
    <section class="stack" aria-labelledby="score-definitions">
      <div class="line apart">
        <h2 id="score-definitions">Score definitions</h2>
        <div class="line">
          <DownloadMenu path="/scores:export" query={new URLSearchParams()} label="Export scores" />
          <CopyAsCurl path={ofProject('/score-definitions')} />
          <Button icon="plus" changes onClick={() => setEditing('new')}>
            Add definition
          </Button>
        </div>
      </div>
      <p class="soft">
        The first score of a name makes its definition. Set bounds or categories here, and which direction is better.
        Stored scores do not change.
      </p>
      <Answered answer={answer} rows={3}>
        {(definitions) =>
          definitions.length === 0 ? (
            <p class="soft">None yet. Score a span, trace or session, or add a definition first.</p>
          ) : (
            <>
              <DataTable
                caption="Score definitions"
                columns={columnsOf(setEditing, setRemoving)}
                rows={definitions}
                idOf={({ name }) => name}
              />
              <p class="soft">{counted(definitions.length, 'definition')}</p>
            </>
          )
        }
      </Answered>
      {editing !== null && (
        <DefinitionDialog
          current={editing === 'new' ? null : editing}
          taken={(answer.data ?? []).map(({ name }) => name)}
          onClose={() => setEditing(null)}
        />
      )}
      {removing !== null && <RemoveDefinition of={removing} onClose={() => setRemoving(null)} />}
    </section>
  );
}

function RemoveDefinition({
  of: { name },
  onClose,
}: {
  readonly of: ScoreDefinitionRead;
  readonly onClose: () => void;
}) {
  return (
    <Ending
      title="Delete this definition?"
      action="Delete definition"
      path={pathOf('DELETE /projects/:project_id/score-definitions/:name+', { params: { name } })}
      done="Definition deleted"
      onDone={() => changedAt('/score-definitions')}
      onClose={onClose}
    >
      <p>
        The next score named <bdi>{name}</bdi> makes a new definition. A definition with scores cannot be deleted.
      </p>
    </Ending>
  );
}

function columnsOf(
  edit: (definition: ScoreDefinitionRead) => void,
  remove: (definition: ScoreDefinitionRead) => void,
): Column<ScoreDefinitionRead>[] {
  return [
    { name: 'name', label: 'Name', cell: ({ name }) => <bdi>{name}</bdi>, full: ({ name }) => name },
    { name: 'kind', label: 'Kind', cell: ({ kind }) => KIND_LABELS[kind] },
    {
      name: 'rules',
      label: 'Values',
      cell: (definition) => <bdi>{rulesOf(definition)}</bdi>,
      full: (definition) => rulesOf(definition),
    },
    {
      name: 'description',
      label: 'Description',
      cell: ({ description }) => <bdi>{description}</bdi>,
      full: ({ description }) => description ?? undefined,
    },
    { name: 'updated', label: 'Updated', cell: ({ updated_at }) => <When at={updated_at} /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (definition) => (
        <span class="actions">
          <Button look="quiet" icon="edit" changes label={`Edit ${definition.name}`} onClick={() => edit(definition)} />
          <Button
            look="quiet"
            icon="trash"
            changes
            label={`Delete ${definition.name}`}
            onClick={() => remove(definition)}
          />
        </span>
      ),
    },
  ];
}
