import type { TraceRead } from '../../../../engine/traces/model/list/fields.js';
import { Icon } from '../../parts/icon.js';
import { Took } from '../../parts/figures.js';

/** Where a turn begins on the page. */
export function turnAnchor(traceId: string): string {
  return `turn-${traceId}`;
}

/** The turns of this page, failed ones marked, each a jump away. */
export function TurnRail({ traces, first }: { readonly traces: readonly TraceRead[]; readonly first: number }) {
  return (
    <nav class="turn-rail" aria-label="Turns">
      <ol>
        {traces.map(({ id, name, has_error, duration_ms }, index) => (
          <li key={id}>
            <a href={`#${turnAnchor(id)}`} title={name}>
              <span>{first + index + 1}</span>
              <bdi class="clip">{name}</bdi>
              {has_error ? (
                <span class="bad">
                  <Icon name="error" />
                  <span class="unseen">failed</span>
                </span>
              ) : (
                <span class="soft small">
                  <Took ms={duration_ms} />
                </span>
              )}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
