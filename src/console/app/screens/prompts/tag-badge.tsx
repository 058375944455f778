export function TagBadge({ tag }: { readonly tag: string }) {
  return <span class={`badge${tag === 'production' ? ' good' : ''}`}>{tag}</span>;
}
