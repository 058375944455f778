import type { MonitorRead } from '../../../../features/monitors/schema.js';

/** The state of a monitor; without data, with the one that goes on. */
export function StateBadge({ monitor }: { readonly monitor: MonitorRead }) {
  const { enabled, state, kept_state, muted_until, error } = monitor;
  if (!enabled) return <span class="badge">disabled</span>;
  const isMuted = muted_until !== null && Date.parse(muted_until) > Date.now();
  const kept = state === 'no_data' && kept_state !== null ? `, was ${kept_state}` : '';
  const look = state === 'firing' ? 'bad' : state === 'ok' ? 'good' : '';
  return (
    <span class={`badge ${look}`} title={error ?? undefined}>
      {state.replace('_', ' ')}
      {kept}
      {isMuted && ', muted'}
      {error !== null && ', failed'}
    </span>
  );
}
