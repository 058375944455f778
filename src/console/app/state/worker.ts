import type { TextDocument } from '../../model/text-document.js';

/** Methods of a document that can be asked for. */
export type DocumentMethod = {
  [Name in keyof TextDocument]: TextDocument[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof TextDocument];

type Task =
  | { readonly does: 'lex'; readonly text: string }
  | {
      readonly does: 'open';
      readonly document: number;
      readonly source: ArrayBuffer | Readonly<Record<string, unknown>>;
    }
  | { readonly does: 'close'; readonly document: number }
  | {
      readonly does: 'ask';
      readonly document: number;
      readonly method: DocumentMethod;
      readonly args: readonly unknown[];
    };

export type WorkerTask = Task & { readonly id: number };

export interface WorkerAnswer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

interface Policies {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

const script = document.querySelector<HTMLMetaElement>('meta[name="spanhouse-worker"]')?.content ?? '';
/** Browsers without trusted types take the address as it is. */
const trusted =
  (globalThis as { readonly trustedTypes?: Policies }).trustedTypes
    ?.createPolicy('spanhouse', { createScriptURL: () => script })
    .createScriptURL(script) ?? script;

/** A worker of ours that is started when it is first needed, and again after it has failed. */
export class Helper {
  #worker: Worker | null = null;
  readonly #waiting = new Map<
    number,
    { readonly done: (value: unknown) => void; readonly failed: (error: Error) => void }
  >();
  #last = 0;

  /** @param transfer what the worker may have for itself, which costs nothing */
  do(task: Task, transfer: readonly Transferable[] = []): Promise<unknown> {
    const worker = (this.#worker ??= this.#started());
    const id = (this.#last += 1);
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      worker.postMessage({ ...task, id }, [...transfer]);
    });
  }

  /** Ends whatever it does. */
  stop(why: string): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { failed } of this.#waiting.values()) failed(new Error(why));
    this.#waiting.clear();
  }

  #started(): Worker {
    const worker = new Worker(trusted, { type: 'module' });
    worker.onmessage = ({ data: { id, value, error } }: MessageEvent<WorkerAnswer>) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.done(value);
      else waiting?.failed(new Error(error));
    };
    worker.onerror = ({ message }) => this.stop(message || 'The script that loads large texts failed');
    return worker;
  }
}
