import { useState } from 'preact/hooks';
import { counted } from '../../model/format.js';
import type { ShownText } from '../../model/text-document.js';
import type { OpenDocument } from '../state/documents.js';
import { textForm } from '../state/preferences.js';
import { Button } from './button.js';
import { Markdown, PlainText } from './markdown.js';
import { VisibleText } from './visible-text.js';

/** Characters that one press adds: a browser lays out so many at once. */
const MORE = 250_000;

interface LongTextProps {
  readonly document: OpenDocument;
  readonly text: ShownText;
  /** Whether it is prose, which may be markdown; else it is shown as data. */
  readonly prose?: boolean;
}

/** A text, of which a long one begins folded. */
export function LongText({ document, text, prose = false }: LongTextProps) {
  const [read, setRead] = useState<{ readonly of: ShownText; readonly text: string } | null>(null);
  const shown = read?.of === text ? read.text : text.head;
  const left = text.length - shown.length;
  const more = async () => {
    const from = read?.of === text ? read.text.length : 0;
    setRead({ of: text, text: shown.slice(0, from) + (await document.ask('slice', text.name, from, from + MORE)) });
  };
  return (
    <>
      {prose && textForm.value === 'markdown' ? (
        <Markdown text={shown} />
      ) : prose ? (
        <PlainText text={shown} />
      ) : (
        <pre class="data-text" tabIndex={0} dir="auto">
          <VisibleText text={shown} />
        </pre>
      )}
      {left > 0 && (
        <p class="line">
          <Button icon="expand" onClick={() => void more()}>
            {left > MORE ? `Show ${counted(MORE, 'more character')}` : `Show all ${counted(text.length, 'character')}`}
          </Button>
          <span class="soft small">
            {counted(shown.length, 'character')} of {counted(text.length, 'character')} shown
          </span>
        </p>
      )}
    </>
  );
}

/** One switch for all texts: markdown, or as they were written. */
export function TextFormSwitch() {
  const isMarkdown = textForm.value === 'markdown';
  return (
    <Button pressed={isMarkdown} onClick={() => (textForm.value = isMarkdown ? 'plain' : 'markdown')}>
      Markdown
    </Button>
  );
}
