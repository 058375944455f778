import { useMemo, useState } from 'preact/hooks';
import { counted } from '../../model/format.js';
import { diffRows, hunksOf, variableChanges, type DiffLine, type DiffRow } from '../../model/text-diff.js';
import { remembered } from '../state/preferences.js';
import { Button } from './button.js';
import { VisibleText } from './visible-text.js';

/** Whether removed and added lines stand below or beside each other. */
const look = remembered<'unified' | 'split'>('diff', 'unified', ['unified', 'split']);

/** Whether two columns of text are too many. */
const isNarrow = () => innerWidth < 760;

/** Characters that would reorder the text, in a part of a line. */
const CONTROLS = 20;

/** Rows that a browser lays out without a wait; the others are shown when asked for. */
const SHOWN = 1000;

interface TextDiffProps {
  readonly before: string;
  readonly after: string;
  /** What the texts are, such as `Version 1`. */
  readonly labels: readonly [before: string, after: string];
  /** Whether it is one of many, which have no switches and name no variables. */
  readonly isOneOfMany?: boolean;
}

/** Two texts compared by lines and words, and which variables came and went. */
export function TextDiff({ before, after, labels, isOneOfMany = false }: TextDiffProps) {
  const [whole, setWhole] = useState(false);
  const [most, setMost] = useState(SHOWN);
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const { hunks, skippedAfter } = useMemo(() => hunksOf(rows, whole ? null : undefined), [rows, whole]);
  if (before === after) return <p class="soft">No differences.</p>;
  const split = !isOneOfMany && look.value === 'split' && !isNarrow();
  const all = hunks.reduce((sum, hunk) => sum + hunk.rows.length, 0);
  let left = most;
  const shown = hunks.map(({ skipped, rows: own }) => {
    const part = own.slice(0, left);
    left -= part.length;
    return { skipped, rows: part };
  });
  return (
    <div class="stack">
      {!isOneOfMany && (
        <div class="line apart">
          <Variables before={before} after={after} />
          <div class="line">
            <Button pressed={whole} onClick={() => setWhole(!whole)}>
              Full text
            </Button>
            {!isNarrow() && (
              <Button pressed={split} onClick={() => (look.value = split ? 'unified' : 'split')}>
                Side by side
              </Button>
            )}
          </div>
        </div>
      )}
      <div class="diff-box" tabIndex={0} role="region" aria-label={`${labels[0]} compared with ${labels[1]}`}>
        <table class={`diff ${split ? 'split' : 'unified'}`}>
          <caption class="unseen">
            Changes from {labels[0]} to {labels[1]}
          </caption>
          {split && (
            <colgroup>
              {labels.map((label) => (
                <>
                  <col class="number" key={label} />
                  <col />
                </>
              ))}
            </colgroup>
          )}
          {split && (
            <thead>
              <tr>
                {labels.map((label) => (
                  <th key={label} scope="col" colSpan={2}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {shown.map((hunk) => (
              <>
                <Skipped rows={hunk.skipped} />
                {split ? hunk.rows.map(splitRow) : unified(hunk.rows).map(unifiedRow)}
              </>
            ))}
            {all <= most && <Skipped rows={skippedAfter} />}
          </tbody>
        </table>
      </div>
      {all > most && (
        <p class="line">
          <Button icon="expand" onClick={() => setMost(most * 4)}>
            Show more
          </Button>
          <span class="soft">
            {counted(most, 'line')} of {counted(all, 'line')} shown
          </span>
        </p>
      )}
    </div>
  );
}

function Skipped({ rows }: { readonly rows: number }) {
  if (rows === 0) return null;
  return (
    <tr class="skipped">
      <td colSpan={4}>{counted(rows, 'unchanged line')}</td>
    </tr>
  );
}

type Sign = 'same' | 'removed' | 'added';

/** Of rows that changed one after another, all removed lines stand before all added ones. */
function unified(rows: readonly DiffRow[]): { sign: Sign; line: DiffLine }[] {
  const lines: { sign: Sign; line: DiffLine }[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (const line of added) lines.push({ sign: 'added', line });
    added = [];
  };
  for (const { same, before, after } of rows) {
    if (same) flush();
    if (same && after !== null) lines.push({ sign: 'same', line: after });
    if (same) continue;
    if (before !== null) lines.push({ sign: 'removed', line: before });
    if (after !== null) added.push(after);
  }
  flush();
  return lines;
}

function unifiedRow({ sign, line }: { readonly sign: Sign; readonly line: DiffLine }) {
  return (
    <tr key={`${sign}${line.number}`} class={sign}>
      <td class="number">{line.number}</td>
      <Line line={line} sign={sign} />
    </tr>
  );
}

function splitRow({ same, before, after }: DiffRow) {
  return (
    <tr key={`${before?.number ?? ''}-${after?.number ?? ''}`}>
      <td class="number">{before?.number}</td>
      <Line line={before} sign={same ? 'same' : 'removed'} />
      <td class="number">{after?.number}</td>
      <Line line={after} sign={same ? 'same' : 'added'} />
    </tr>
  );
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

function Line({ line, sign }: { readonly line: DiffLine | null; readonly sign: Sign }) {
  if (line === null) return <td class="none" />;
  const Changed = sign === 'removed' ? 'del' : 'ins';
  return (
    <td class={sign}>
      <span class="sign" aria-hidden="true">
        {SIGNS[sign]}
      </span>
      {sign !== 'same' && <span class="unseen">{sign}: </span>}
      <bdi>
        {line.parts.map(({ text, changed }, index) => {
          const shown = <VisibleText key={index} text={text} most={CONTROLS} />;
          return sign !== 'same' && changed ? <Changed key={index}>{shown}</Changed> : shown;
        })}
      </bdi>
    </td>
  );
}

/** Variables that are named; of a text with more, the others are counted. */
const VARIABLES = 50;
const LOOKS = { removed: 'bad', added: 'good', kept: 'soft' } as const;

function Variables({ before, after }: { readonly before: string; readonly after: string }) {
  const all = useMemo(() => variableChanges(before, after), [before, after]);
  if (all.length === 0) return <span class="soft">No variables.</span>;
  return (
    <ul class="chips" aria-label="Variables">
      {all.slice(0, VARIABLES).map(({ name, change }) => (
        <li key={name} class={`badge ${LOOKS[change]}`}>
          Variable {change}: <code class="clip">{`{{${name}}}`}</code>
        </li>
      ))}
      {all.length > VARIABLES && <li class="soft">and {counted(all.length - VARIABLES, 'more', 'more')}</li>}
    </ul>
  );
}
