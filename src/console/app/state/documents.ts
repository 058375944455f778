import { useEffect, useMemo, useState } from 'preact/hooks';
import { TextDocument } from '../../model/text-document.js';
import { announceError } from './announce.js';
import { Helper, type DocumentMethod } from './worker.js';

/** Beyond so many bytes a document is read in a worker. */
const LARGE = 512 * 1024;

/** A document, wherever it is read: small ones answer at once, those in the worker later. */
export interface OpenDocument {
  ask<M extends DocumentMethod>(
    method: M,
    ...args: Parameters<TextDocument[M]>
  ): ReturnType<TextDocument[M]> | Promise<ReturnType<TextDocument[M]>>;
  close(): void;
}

type Source = ArrayBuffer | Readonly<Record<string, unknown>>;

const helper = new Helper();
let last = 0;

export function openDocument(source: Source): OpenDocument {
  if (sizeOf(source) > LARGE) return inWorker(source);
  const document = source instanceof ArrayBuffer ? TextDocument.ofAnswer(source) : new TextDocument(source);
  return {
    ask: (method, ...args) =>
      (document[method] as (...given: unknown[]) => ReturnType<TextDocument[typeof method]>).apply(document, args),
    close: () => undefined,
  };
}

/** No one can ask for a document that is no more reachable. */
const forgotten = new FinalizationRegistry<number>((document) => close(document));

function close(document: number): void {
  helper.do({ does: 'close', document }).catch(() => undefined);
}

function inWorker(source: Source): OpenDocument {
  const document = (last += 1);
  const opened = helper.do({ does: 'open', document, source }, source instanceof ArrayBuffer ? [source] : []);
  const handle: OpenDocument = {
    ask: async (method, ...args) => {
      await opened;
      return (await helper.do({ does: 'ask', document, method, args })) as ReturnType<TextDocument[typeof method]>;
    },
    close: () => close(document),
  };
  forgotten.register(handle, document);
  return handle;
}

/** Counts texts; what is nested is small or comes as bytes. */
function sizeOf(source: Source): number {
  if (source instanceof ArrayBuffer) return source.byteLength;
  return Object.values(source).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/** A document of these texts while the component is shown. Values that are no texts are JSON. */
export function useDocument(texts: Readonly<Record<string, unknown>>): OpenDocument {
  const document = useMemo(() => openDocument(texts), Object.values(texts));
  useEffect(() => () => document.close(), [document]);
  return document;
}

/** What was asked of a document; what was answered before stays until the answer is there. */
export function useAsked<T>(ask: () => T | Promise<T>, on: readonly unknown[]): T | undefined {
  const [later, setLater] = useState<T>();
  const now = useMemo(ask, on);
  useEffect(() => {
    if (!(now instanceof Promise)) return;
    let stale = false;
    now.then(
      (value) => stale || setLater(() => value),
      (error: unknown) => stale || announceError(error),
    );
    return () => {
      stale = true;
    };
  }, [now]);
  return now instanceof Promise ? later : now;
}
