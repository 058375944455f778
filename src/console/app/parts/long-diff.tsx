import { useState } from 'preact/hooks';
import { counted } from '../../model/format.js';
import { Button } from './button.js';
import { TextDiff } from './text-diff.js';

/** Characters that are compared without being asked for. */
const COMPARED = 20_000;

interface LongDiffProps {
  readonly before: string;
  readonly after: string;
  /** What the texts are, such as `Version 1`. */
  readonly labels: readonly [before: string, after: string];
}

/** Two texts compared, of which long ones wait until they are asked for. */
export function LongDiff({ before, after, labels }: LongDiffProps) {
  const length = before.length + after.length;
  const [isShown, setShown] = useState(length <= COMPARED);
  if (isShown) return <TextDiff before={before} after={after} labels={labels} isOneOfMany />;
  return (
    <Button icon="expand" onClick={() => setShown(true)}>
      Compare {counted(length, 'character')}
    </Button>
  );
}
