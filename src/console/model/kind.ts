/** How kinds of spans are told apart: each has an icon shape and a color of its own. */
export type KindLook = 'model' | 'tool' | 'agent' | 'retrieval' | 'http' | 'database' | 'speech' | 'other';

const LOOKS: ReadonlyMap<string, KindLook> = new Map([
  ['llm', 'model'],
  ['tool', 'tool'],
  ['agent', 'agent'],
  ['workflow', 'agent'],
  ['chain', 'agent'],
  ['retriever', 'retrieval'],
  ['retrieval', 'retrieval'],
  ['embedding', 'retrieval'],
  ['reranker', 'retrieval'],
  ['vector_store', 'retrieval'],
  ['http', 'http'],
  ['database', 'database'],
  ['tts', 'speech'],
  ['stt', 'speech'],
]);

export function lookOf(kind: string): KindLook {
  return LOOKS.get(kind) ?? 'other';
}
