import { useState } from 'preact/hooks';
import { piecesOf } from '../../../../features/optimization/placeholders.js';
import { counted } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { VisibleText } from '../../parts/visible-text.js';

/** Characters that are shown at first, and variables that are marked. */
const FOLDED = 20_000;
const MARKED = 500;

interface PromptTextProps {
  readonly text: string;
  /** What it is called. */
  readonly label?: string;
}

/** A text of a version, as it is, with its variables marked. */
export function PromptText({ text, label = 'Version text' }: PromptTextProps) {
  const [whole, setWhole] = useState(text.length <= FOLDED);
  const shown = whole ? text : text.slice(0, FOLDED);
  const pieces = piecesOf(shown);
  const marked = pieces.slice(0, 2 * MARKED);
  return (
    <div class="stack">
      <pre class="prompt-text" tabIndex={0} aria-label={label}>
        {marked.map((piece, index) =>
          index % 2 === 1 ? (
            <mark key={index}>{piece}</mark>
          ) : (
            <VisibleText key={index} text={piece} most={Math.ceil(MARKED / marked.length)} />
          ),
        )}
        <VisibleText text={pieces.slice(marked.length).join('')} most={MARKED} />
      </pre>
      {!whole && (
        <p class="line">
          <Button icon="expand" onClick={() => setWhole(true)}>
            Show all {counted(text.length, 'character')}
          </Button>
          <span class="soft">{counted(FOLDED, 'character')} shown</span>
        </p>
      )}
    </div>
  );
}
