import { useState } from 'preact/hooks';
import { count, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefOf, hrefWith } from '../../state/location.js';
import { offsetAsked } from '../prompts/asked.js';
import { MAX_VERSIONS, pathOfDataset, useTags, useVersions, type Version } from './data.js';
import type { TabProps } from './tab-props.js';
import { PinTag, RemoveTag } from './tag-dialogs.js';
import { Changes, type Tag } from './version-choice.js';

/** The tag that follows the newest version. */
const LATEST = 'latest';

/** All versions, newest first, with the tags that point to them. */
export function VersionsTab({ dataset: { name } }: TabProps) {
  const offset = offsetAsked();
  const answer = useVersions(name, offset);
  const tags = useTags(name).data ?? [];
  const [pinning, setPinning] = useState<Version | null>(null);
  const [removing, setRemoving] = useState<Tag | null>(null);
  const columns = columnsOf({ name, tags, onPin: setPinning, onRemove: setRemoving });
  return (
    <div class="stack">
      <div class="line apart">
        <p class="soft">A version never changes. Tags name versions for programs, and can be moved.</p>
        <CopyAsCurl path={`${pathOfDataset(name)}/versions`} />
      </div>
      <Answered answer={answer}>
        {(versions) =>
          versions.length === 0 ? (
            <Empty title={offset > 0 ? 'No older versions' : 'No versions yet'}>The first rows make version 1.</Empty>
          ) : (
            <DataTable
              caption="Versions"
              columns={columns}
              rows={versions}
              idOf={({ id }) => id}
              hrefOf={({ version_number }) => rowsOf(name, version_number)}
            />
          )
        }
      </Answered>
      {answer.data?.length === MAX_VERSIONS && (
        <a href={hrefWith({ offset: String(offset + MAX_VERSIONS) })}>Older versions</a>
      )}
      {pinning !== null && (
        <PinTag name={name} number={pinning.version_number} tags={tags} onClose={() => setPinning(null)} />
      )}
      {removing !== null && <RemoveTag name={name} tag={removing} onClose={() => setRemoving(null)} />}
    </div>
  );
}

const rowsOf = (name: string, number: number) =>
  hrefOf({ screen: 'datasets', id: name, query: { version: String(number) } });

interface Actions {
  readonly name: string;
  readonly tags: readonly Tag[];
  readonly onPin: (version: Version) => void;
  readonly onRemove: (tag: Tag) => void;
}

function columnsOf({ name, tags, onPin, onRemove }: Actions): Column<Version>[] {
  return [
    { name: 'number', label: 'Version', cell: ({ version_number }) => `v${version_number}` },
    {
      name: 'message',
      label: 'Message',
      cell: ({ message }) => <bdi>{message.slice(0, 200) || NOTHING}</bdi>,
      full: ({ message }) => message,
    },
    {
      name: 'tags',
      label: 'Tags',
      cell: ({ version_number: number }) => (
        <span class="line">
          {tags
            .filter((tag) => tag.version_number === number)
            .map((tag) => (
              <TagShown key={tag.tag} tag={tag} onRemove={() => onRemove(tag)} />
            ))}
        </span>
      ),
    },
    { name: 'rows', label: 'Rows', named: true, figure: true, cell: ({ row_count }) => count(row_count) },
    {
      name: 'changes',
      label: 'Changes',
      cell: (version) =>
        version.version_number === 1 ? (
          <Changes of={version} />
        ) : (
          <a href={changesOf(name, version.version_number - 1, version.version_number)}>
            <Changes of={version} />
          </a>
        ),
    },
    { name: 'by', label: 'Created by', named: true, cell: ({ created_by_name }) => <bdi>{created_by_name}</bdi> },
    { name: 'at', label: 'Created', cell: ({ created_at }) => <When at={created_at} relative /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (version) => (
        <Button
          look="quiet"
          icon="pin"
          changes
          label={`Pin a tag to version ${version.version_number}`}
          onClick={() => onPin(version)}
        />
      ),
    },
  ];
}

/** The address of what changed between two versions. */
function changesOf(name: string, from: number, to: number): string {
  return hrefOf({ screen: 'datasets', id: name, query: { tab: 'changes', from: String(from), to: String(to) } });
}

function TagShown({ tag: { tag }, onRemove }: { readonly tag: Tag; readonly onRemove: () => void }) {
  if (tag === LATEST) return <span class="badge">{tag}</span>;
  return (
    <span class="badge good">
      <Icon name="tag" /> {tag}
      <Button look="quiet" icon="close" changes label={`Remove tag ${tag}`} onClick={onRemove} />
    </span>
  );
}
