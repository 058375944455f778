import { hrefOf } from '../../state/location.js';

interface TagChipsProps {
  readonly tags: Readonly<Record<string, string>>;
  /** The list that a tag leads to. */
  readonly screen: 'traces' | 'spans' | 'sessions';
}

/** Tags, each of which leads to what else has it. */
export function TagChips({ tags, screen }: TagChipsProps) {
  const entries = Object.entries(tags);
  if (entries.length === 0) return null;
  return (
    <ul class="chips" aria-label="Tags">
      {entries.map(([key, value]) => (
        <li key={key} class="tag-chip">
          <a
            class="chip"
            title={`${key}: ${value}`}
            href={hrefOf({ screen, query: { [`tags.${key}`]: value, range: 'all' } })}
          >
            <bdi class="clip">{key}</bdi>
            <bdi class="clip soft">{value}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
