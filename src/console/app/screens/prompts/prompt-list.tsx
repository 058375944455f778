import { useState } from 'preact/hooks';
import type { PromptSummaryRead } from '../../../../features/prompts/http/schema.js';
import { count, money, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { SearchedList } from '../../parts/searched-list.js';
import { Answered, Empty } from '../../parts/states.js';
import { ofProject } from '../../state/api.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { offsetAsked } from './asked.js';
import { RECENT, PRODUCTION, promptsAsked, usePrompts } from './data.js';
import { LATEST } from './versions.js';
import { EditorDialog } from './editor-dialog.js';

const PAGE = 50;

/** Every prompt of the project, with what became of it lately. */
export function PromptList() {
  const [making, setMaking] = useState(false);
  const q = place.value.query.get('q') ?? '';
  const paging = { offset: offsetAsked(), limit: PAGE };
  const query = promptsAsked(q, paging.offset, paging.limit);
  const answer = usePrompts(query);
  return (
    <div class="stack">
      <header class="screen-head">
        <h1>Prompts</h1>
        <div class="line">
          <CopyAsCurl path={ofProject('/prompts')} query={query} />
          <Button look="main" icon="plus" changes onClick={() => setMaking(true)}>
            New prompt
          </Button>
        </div>
      </header>
      <Answered answer={answer}>
        {({ rows, total }) =>
          total === 0 && q === '' ? (
            <NoPrompts onMake={() => setMaking(true)} />
          ) : (
            <SearchedList noun="prompts" by="slug" q={q} {...paging} shown={rows.length} total={total}>
              <PromptTable prompts={rows} />
            </SearchedList>
          )
        }
      </Answered>
      {making && (
        <EditorDialog
          slug={null}
          base={null}
          latest={null}
          onClose={() => setMaking(false)}
          onSaved={({ prompt }) => navigate(hrefOf({ screen: 'prompts', id: prompt }))}
        />
      )}
    </div>
  );
}

function NoPrompts({ onMake }: { readonly onMake: () => void }) {
  return (
    <Empty title="No prompts yet">
      <p>
        Spanhouse stores prompts in versions; clients request the one that a tag such as <code>production</code> points
        to. Create the first version here, or from code (<code>…/prompt/versions/ensure</code>).
      </p>
      <Button look="main" icon="plus" changes onClick={onMake}>
        New prompt
      </Button>
    </Empty>
  );
}

function PromptTable({ prompts }: { readonly prompts: readonly PromptSummaryRead[] }) {
  const columns: Column<PromptSummaryRead>[] = [
    { name: 'slug', label: 'Prompt', cell: ({ slug }) => <bdi>{slug}</bdi>, full: ({ slug }) => slug },
    {
      name: 'latest',
      label: 'Latest',
      cell: ({ latest_version }) => <span title="Newest version">v{latest_version}</span>,
    },
    {
      name: 'production',
      label: 'Production',
      cell: ({ tags }) => {
        const tag = tags.find((entry) => entry.tag === PRODUCTION);
        return tag === undefined ? NOTHING : <span class="badge good">v{tag.version}</span>;
      },
    },
    {
      name: 'tags',
      label: 'Other tags',
      cell: ({ tags }) =>
        tags
          .filter(({ tag }) => tag !== LATEST && tag !== PRODUCTION)
          .map(tagName)
          .join(', ') || NOTHING,
      full: ({ tags }) => tags.map(tagName).join(', '),
    },
    { name: 'versions', label: 'Versions', figure: true, cell: ({ version_count }) => count(version_count) },
    { name: 'calls', label: 'Calls, 7 days', figure: true, cell: (prompt) => <Lately prompt={prompt} of="calls" /> },
    { name: 'errors', label: 'Errors', figure: true, cell: (prompt) => <Lately prompt={prompt} of="errors" /> },
    { name: 'cost', label: 'Cost', figure: true, cell: (prompt) => <Lately prompt={prompt} of="cost" /> },
    { name: 'feedback', label: 'Feedback', figure: true, cell: (prompt) => <FeedbackCount prompt={prompt} /> },
    { name: 'updated', label: 'Updated', cell: ({ updated_at }) => <When at={updated_at} relative /> },
  ];
  return (
    <DataTable
      caption="Prompts"
      twoLine={false}
      columns={columns}
      rows={prompts}
      idOf={({ id }) => id}
      hrefOf={({ slug }) => hrefOf({ screen: 'prompts', id: slug })}
    />
  );
}

const tagName = ({ tag, version }: { readonly tag: string; readonly version: number }) => `${tag} v${version}`;

interface LatelyProps {
  readonly prompt: PromptSummaryRead;
  readonly of: 'calls' | 'errors' | 'cost';
}

/** A figure of the spans that name the prompt. */
function Lately({ prompt: { slug, figures }, of }: LatelyProps) {
  const query = { prompt_slug: slug, range: RECENT, ...(of === 'errors' && { has_error: 'true' }) };
  const value = figures?.[of] ?? null;
  return <a href={hrefOf({ screen: 'spans', query })}>{of === 'cost' ? money(value) : count(value)}</a>;
}

function FeedbackCount({ prompt: { slug, figures } }: { readonly prompt: PromptSummaryRead }) {
  return (
    <a href={hrefOf({ screen: 'prompts', id: slug, query: { tab: 'feedback' } })}>{count(figures?.feedback ?? null)}</a>
  );
}
