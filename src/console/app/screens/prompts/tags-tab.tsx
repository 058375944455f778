import { useState } from 'preact/hooks';
import type { TagMoveRead } from '../../../../features/prompts/http/schema.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { hrefOf, hrefWith, place } from '../../state/location.js';
import { offsetAsked } from './asked.js';
import { ofPrompt, PRODUCTION } from './data.js';
import { LATEST, MAX_PAGE, useTagHistory, type TagEntry } from './versions.js';
import { RemoveTag } from './delete-dialogs.js';
import { PinDialog } from './pin-dialog.js';
import type { TabProps } from './tab-props.js';

/** What each tag points at, and what one of them (`tag`) has pointed at. */
export function TagsTab({ slug, tags, latest }: TabProps) {
  const [removed, setRemoved] = useState<TagEntry | null>(null);
  const [pinned, setPinned] = useState<TagEntry | null>(null);
  const asked = place.value.query.get('tag');
  const first = tags.find(({ tag }) => tag === PRODUCTION) ?? tags[0];
  const chosen = asked !== null && /^[\w.-]{1,64}$/.test(asked) ? asked : (first?.tag ?? LATEST);
  const columns: Column<TagEntry>[] = [
    { name: 'tag', label: 'Tag', cell: ({ tag }) => tag },
    {
      name: 'version',
      label: 'Points to',
      cell: ({ version }) => <a href={versionHref(slug, version)}>Version {version}</a>,
    },
    {
      name: 'actions',
      label: 'Actions',
      cell: (entry) =>
        entry.tag === LATEST ? (
          <span class="soft">always follows the newest version</span>
        ) : (
          <span class="line">
            <Button icon="pin" changes onClick={() => setPinned({ tag: entry.tag, version: latest })}>
              Pin to…
            </Button>
            <Button
              look="danger"
              icon="trash"
              changes
              label={`Remove tag ${entry.tag}`}
              onClick={() => setRemoved(entry)}
            />
          </span>
        ),
    },
  ];
  return (
    <div class="stack">
      <div class="line">
        <Button icon="plus" changes onClick={() => setPinned({ tag: '', version: latest })}>
          New tag
        </Button>
      </div>
      <DataTable
        caption="Tags"
        columns={columns}
        rows={tags}
        idOf={({ tag }) => tag}
        hrefOf={({ tag }) => hrefWith({ tag, offset: null })}
      />
      <Timeline slug={slug} tag={chosen} tags={tags} onPin={setPinned} />
      {removed !== null && <RemoveTag slug={slug} entry={removed} onClose={() => setRemoved(null)} />}
      {pinned !== null && <PinDialog slug={slug} tags={tags} proposed={pinned} onClose={() => setPinned(null)} />}
    </div>
  );
}

function versionHref(slug: string, version: number, before: number | null = null): string {
  const query = { ...(before !== null && { a: String(before) }), b: String(version) };
  return hrefOf({ screen: 'prompts', id: slug, query });
}

interface TimelineProps {
  readonly slug: string;
  readonly tag: string;
  readonly tags: readonly TagEntry[];
  readonly onPin: (entry: TagEntry) => void;
}

/** Moves of a tag, newest first, each with what it changed. */
function Timeline({ slug, tag, tags, onPin }: TimelineProps) {
  const offset = offsetAsked();
  const answer = useTagHistory(slug, tag, offset);
  const now = tags.find((entry) => entry.tag === tag)?.version ?? null;
  return (
    <section class="stack" aria-label={`History of ${tag}`}>
      <div class="line apart">
        <h2>History of {tag}</h2>
        <CopyAsCurl path={ofPrompt(slug, `/tags/${tag}/history`)} />
      </div>
      <Answered answer={answer}>
        {(moves) => (
          <ol class="timeline">
            {moves.map((move, index) => (
              <Move
                key={`${move.pinned_at}-${index}`}
                move={move}
                before={moves[index + 1]?.version ?? null}
                slug={slug}
                onPin={
                  tag === LATEST || move.version === null || move.version === now
                    ? null
                    : () => onPin({ tag, version: move.version ?? 0 })
                }
              />
            ))}
          </ol>
        )}
      </Answered>
      {answer.data?.length === MAX_PAGE && <a href={hrefWith({ offset: String(offset + MAX_PAGE) })}>Older changes</a>}
    </section>
  );
}

interface MoveProps {
  readonly move: TagMoveRead;
  /** What it pointed at before; null: nothing. */
  readonly before: number | null;
  readonly slug: string;
  readonly onPin: (() => void) | null;
}

function Move({ move: { version, pinned_at, pinned_by }, before, slug, onPin }: MoveProps) {
  return (
    <li>
      <span class="line">
        {version === null ? <b>removed</b> : <a href={versionHref(slug, version)}>Version {version}</a>}
        {version !== null && before !== null && before !== version && (
          <a href={versionHref(slug, version, before)}>changes since version {before}</a>
        )}
        {onPin !== null && (
          <Button look="quiet" icon="pin" changes onClick={onPin}>
            Pin again
          </Button>
        )}
      </span>
      <span class="soft">
        <When at={pinned_at} /> by <bdi>{pinned_by.name}</bdi>
      </span>
    </li>
  );
}
