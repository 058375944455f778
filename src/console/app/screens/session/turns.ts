import { useEffect, useState } from 'preact/hooks';
import type { TraceRead } from '../../../../engine/traces/model/list/fields.js';
import type { ShownMessage } from '../../../model/text-document.js';
import { repeated, saidWith } from '../../../model/turns.js';
import { announceError } from '../../state/announce.js';
import { openDocument, type OpenDocument } from '../../state/documents.js';

/** One trace of a session, as a turn of its conversation. */
export interface Turn {
  readonly trace: TraceRead;
  readonly document: OpenDocument;
  readonly messages: readonly ShownMessage[];
  /** How many messages at the beginning were there in an earlier turn. */
  readonly repeated: number;
}

/** Reads the texts of the traces in their order; undefined: not read yet. */
export function useTurns(traces: readonly TraceRead[]): readonly Turn[] | undefined {
  const [turns, setTurns] = useState<readonly Turn[]>();
  const changed = traces.map(({ id, root_span_input, root_span_output }) =>
    [id, root_span_input?.length, root_span_output?.length].join(),
  );
  useEffect(() => {
    let stale = false;
    const opened: OpenDocument[] = [];
    readTurns(traces, opened).then(
      (read) => stale || setTurns(read),
      (error: unknown) => stale || announceError(error),
    );
    return () => {
      stale = true;
      for (const document of opened) document.close();
    };
  }, [changed.join('\n')]);
  return turns;
}

async function readTurns(traces: readonly TraceRead[], opened: OpenDocument[]): Promise<Turn[]> {
  let said: ReadonlySet<string> = new Set();
  const turns: Turn[] = [];
  for (const trace of traces) {
    const document = openDocument({ input: trace.root_span_input, output: trace.root_span_output });
    opened.push(document);
    const messages = await document.ask('conversation', ['input', 'output']);
    turns.push({
      trace,
      document,
      messages,
      repeated: repeated(
        said,
        messages.filter(({ of }) => of === 'input'),
      ),
    });
    said = saidWith(said, messages);
  }
  return turns;
}
