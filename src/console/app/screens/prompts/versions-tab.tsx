import { useState } from 'preact/hooks';
import type { PromptVersionRead, TagMoveRead } from '../../../../features/prompts/http/schema.js';
import { count, counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { useKeys } from '../../state/keys.js';
import { hrefWith, navigate, place, setQuery } from '../../state/location.js';
import { offsetAsked } from './asked.js';
import { tagsOf, versionIn } from './data.js';
import { MAX_PAGE, useTagHistory, useVersion, type TagEntry } from './versions.js';
import type { TabProps } from './tab-props.js';
import { VersionDiff } from './version-diff.js';
import { VersionView } from './version-view.js';
import { TagBadge } from './tag-badge.js';

/** Versions shown before someone asks for all of them. */
const SHOWN = 50;

/** The versions, newest first; the text of one (`b`), or what changed in it since another (`a`). */
export function VersionsTab({ slug, tags, latest }: TabProps) {
  const { query } = place.value;
  const from = offsetAsked();
  const versions = useTagHistory(slug, 'latest', from);
  const shown = versionIn(query.get('b')) ?? latest;
  const against = versionIn(query.get('a'));
  return (
    <div class="prompt-split">
      <Answered answer={versions}>
        {(made) => <VersionRail made={made} tags={tags} shown={shown} from={from} />}
      </Answered>
      <div class="stack">
        <Compared slug={slug} tags={tags} latest={latest} shown={shown} against={against} made={versions.data ?? []} />
      </div>
    </div>
  );
}

interface RailProps {
  readonly made: readonly TagMoveRead[];
  readonly tags: readonly TagEntry[];
  readonly shown: number;
  /** How many newer versions stand before those. */
  readonly from: number;
}

function VersionRail({ made, tags, shown, from }: RailProps) {
  const [all, setAll] = useState(false);
  const at = made.findIndex(({ version }) => version === shown);
  const listed = all ? made : made.slice(0, Math.max(SHOWN, at + 1));
  const step = (by: number) => {
    const next = made[Math.max(0, Math.min(made.length - 1, at + by))]?.version;
    if (next != null) navigate(hrefWith({ b: String(next) }));
  };
  useKeys(
    [
      { keys: 'j', does: 'Previous version', run: () => step(1) },
      { keys: 'k', does: 'Next version', run: () => step(-1) },
    ],
    [made, at],
  );
  return (
    <nav class="version-rail" aria-label="Versions">
      <ol>
        {listed.map(({ version, pinned_at, pinned_by }) => (
          <li key={version}>
            <a
              href={hrefWith({ b: String(version) })}
              {...(version === shown && { 'aria-current': 'true' as const })}
              title={`Created by ${pinned_by.name}`}
            >
              <span class="line">
                <b>v{version}</b>
                {tagsOf(tags, version ?? 0).map((tag) => (
                  <TagBadge key={tag} tag={tag} />
                ))}
              </span>
              <span class="soft small clip">
                <When at={pinned_at} relative /> by <bdi>{pinned_by.name}</bdi>
              </span>
            </a>
          </li>
        ))}
      </ol>
      {listed.length < made.length && (
        <Button onClick={() => setAll(true)}>Show all {counted(made.length, 'version')}</Button>
      )}
      {made.length === MAX_PAGE && <a href={hrefWith({ offset: String(from + MAX_PAGE) })}>Older versions</a>}
      {from > 0 && <a href={hrefWith({ offset: from > MAX_PAGE ? String(from - MAX_PAGE) : null })}>Newer versions</a>}
      {made.length === 0 && <p class="soft">No versions after the first {count(from)}.</p>}
    </nav>
  );
}

interface ComparedProps extends TabProps {
  readonly shown: number;
  readonly against: number | null;
  readonly made: readonly TagMoveRead[];
}

function Compared({ slug, tags, latest, shown, against, made }: ComparedProps) {
  const after = useVersion(slug, shown);
  const before = useVersion(slug, against);
  const name = (version: number) => [`Version ${version}`, ...tagsOf(tags, version)].join(', ');
  const others = made.flatMap(({ version }) => (version === null || version === shown ? [] : [version]));
  if (against !== null && against !== shown && !others.includes(against)) others.push(against);
  const choice = (
    <Field label="Compare with">
      <select
        class="input"
        value={against === null || against === shown ? '' : String(against)}
        onChange={({ currentTarget: { value } }) => setQuery({ a: value === '' ? null : value, b: String(shown) })}
      >
        <option value="">None</option>
        {others.map((version) => (
          <option key={version} value={String(version)}>
            {name(version)}
          </option>
        ))}
      </select>
    </Field>
  );
  const changesOf = (version: PromptVersionRead) => (
    <Answered answer={before}>
      {(other) => <VersionDiff before={other} after={version} labels={[name(against ?? 0), name(shown)]} />}
    </Answered>
  );
  return (
    <Answered answer={after}>
      {(version) => (
        <VersionView
          version={version}
          tags={tags}
          latest={latest}
          choice={choice}
          changes={against === null || against === shown ? null : changesOf(version)}
        />
      )}
    </Answered>
  );
}
