/** Tags that lead nowhere. */
export function Tags({ of }: { readonly of: Readonly<Record<string, string>> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <ul class="chips" aria-label="Tags">
      {entries.map(([key, value]) => (
        <li key={key} class="tag-chip">
          <span class="chip" title={`${key}: ${value}`}>
            <bdi class="clip">{key}</bdi>
            <bdi class="clip soft">{value}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}
