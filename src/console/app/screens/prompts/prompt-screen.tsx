import { CopyButton } from '../../parts/copy.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Empty } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { ApiError } from '../../state/api.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { CompletionsTab } from './completions-tab.js';
import { versionIn } from './data.js';
import { useTags } from './versions.js';
import { FeedbackTab } from './feedback-tab.js';
import { FiguresTab } from './figures-tab.js';
import { OptimizationsTab } from './optimizations-tab.js';
import { TagsTab } from './tags-tab.js';
import { VersionsTab } from './versions-tab.js';

const TABS = [
  { name: 'versions', label: 'Versions', Tab: VersionsTab },
  { name: 'tags', label: 'Tags', Tab: TagsTab },
  { name: 'figures', label: 'Metrics', Tab: FiguresTab },
  { name: 'completions', label: 'Completions', Tab: CompletionsTab },
  { name: 'feedback', label: 'Feedback', Tab: FeedbackTab },
  { name: 'optimization', label: 'Optimization', Tab: OptimizationsTab },
] as const;

/** One prompt: its versions and tags, and what became of them. */
export function PromptScreen({ slug }: { readonly slug: string }) {
  const tags = useTags(slug);
  const { query } = place.value;
  const { name, Tab } =
    TABS.find((tab) => tab.name === query.get('tab')?.replace('optimisation', 'optimization')) ?? TABS[0];
  const choose = (tab: string) => {
    // What else stands in the address is of the tab that is left.
    const kept = [...query].filter(([key]) => key === 'a' || key === 'b');
    navigate(hrefOf({ screen: 'prompts', id: slug, query: new URLSearchParams([...kept, ['tab', tab]]) }));
  };
  return (
    <div class="stack">
      <Head slug={slug} latest={tags.data?.[0]?.version ?? null} />
      {tags.error instanceof ApiError && tags.error.status === 404 ? (
        <Empty title="Prompt not found">
          <p>It may have been deleted with its only version.</p>
        </Empty>
      ) : (
        <Answered answer={tags}>
          {(data) => (
            <Tabs label="Prompt sections" tabs={TABS} chosen={name} onChoose={choose}>
              <Tab slug={slug} tags={data} latest={data[0]?.version ?? 1} />
            </Tabs>
          )}
        </Answered>
      )}
    </div>
  );
}

function Head({ slug, latest }: { readonly slug: string; readonly latest: number | null }) {
  const shown = versionIn(place.value.query.get('b')) ?? latest;
  const elsewhere = [
    {
      screen: 'playground',
      label: 'Playground',
      query: { prompt: slug, ...(shown !== null && { version: String(shown) }) },
    },
    { screen: 'review', label: 'Review', query: { prompt: slug } },
    { screen: 'spans', label: 'Spans', query: { prompt_slug: slug, range: 'all' } },
    { screen: 'traces', label: 'Traces', query: { prompt_slug: slug, range: 'all' } },
  ] as const;
  return (
    <header class="screen-head">
      <div class="line">
        <HeadingBelow screen="prompts" label="Prompts" name={slug} />
        <CopyButton text={slug} what="Slug" />
        {latest !== null && <span class="soft">latest is v{latest}</span>}
      </div>
      <nav class="line" aria-label="Pages of this prompt">
        {elsewhere.map(({ screen, label, query }) => (
          <a key={screen} class="button" href={hrefOf({ screen, query })}>
            <Icon name={screen} /> {label}
          </a>
        ))}
      </nav>
    </header>
  );
}
