/** What runs beside the thread that draws: reading of texts that may be large, and of markdown, which may be hostile. */
import { lex } from '../model/markdown-lexer.js';
import { TextDocument } from '../model/text-document.js';
import type { WorkerAnswer, WorkerTask } from './state/worker.js';

const documents = new Map<number, TextDocument>();

addEventListener('message', ({ data }: MessageEvent<WorkerTask>) => {
  work(data).then(
    (value) => answer({ id: data.id, value }),
    (error: unknown) => answer({ id: data.id, error: String(error) }),
  );
});

function answer(answered: WorkerAnswer): void {
  postMessage(answered);
}

async function work(task: WorkerTask): Promise<unknown> {
  switch (task.does) {
    case 'lex':
      return lex(task.text);
    case 'open': {
      const { source, document } = task;
      documents.set(document, source instanceof ArrayBuffer ? TextDocument.ofAnswer(source) : new TextDocument(source));
      return null;
    }
    case 'close':
      documents.delete(task.document);
      return null;
    case 'ask': {
      const asked = documents.get(task.document);
      if (asked === undefined) throw new Error('This text is no longer in memory; open the view again');
      const method = asked[task.method] as (...args: unknown[]) => unknown;
      return method.apply(asked, [...task.args]);
    }
  }
}
