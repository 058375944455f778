import type { ComparedMetric } from '../../../model/forest.js';
import { Icon, type IconName } from '../../parts/icon.js';
import type { Comparison } from './data.js';

type Verdict = Comparison['verdict'] | ComparedMetric['verdict'];

const LOOKS: Readonly<Record<Verdict, readonly [look: string, icon: IconName | null]>> = {
  passed: ['good', 'check'],
  failed: ['bad', 'close'],
  undecided: ['warn', 'help'],
  incomparable: ['warn', 'warning'],
  reported: ['', null],
};

/** What a comparison, or a rule of it, came to. */
export function VerdictBadge({ of }: { readonly of: Verdict }) {
  const [look, icon] = LOOKS[of];
  return (
    <span class={`badge ${look}`}>
      {icon !== null && <Icon name={icon} />} {of}
    </span>
  );
}
