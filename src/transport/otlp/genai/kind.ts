/** Says what kind of span an attribute's value makes of it; `undefined`: nothing, ask the next rule. */
type KindOf = (value: string) => string | undefined;

export interface KindRule {
  /** The attribute to look at; the rule about usage looks at what {@link MAPPING} found instead. */
  readonly attribute: string;
  readonly kindOf: KindOf;
}

function oneOf(kinds: Readonly<Record<string, readonly string[]>>): KindOf {
  const byValue = new Map(
    Object.entries(kinds).flatMap(([kind, values]) => values.map((value) => [value, kind] as const)),
  );
  return (value) => byValue.get(value.toLowerCase());
}

function always(kind: string): KindOf {
  return () => kind;
}

const vercelOperation = oneOf({
  llm: [
    'ai.generatetext.dogenerate',
    'ai.generateobject.dogenerate',
    'ai.streamtext.dostream',
    'ai.streamobject.dostream',
  ],
  embedding: ['ai.embed.doembed', 'ai.embedmany.doembed'],
  reranker: ['ai.rerank.dorerank'],
  tool: ['ai.toolcall'],
});

/** `ai.operationId` is the operation alone; `operation.name` may be followed by the name of the function. */
const vercel: KindOf = (value) => {
  const [operation = ''] = value.split(' ', 1);
  return operation.startsWith('ai.') ? (vercelOperation(operation) ?? 'chain') : undefined;
};

/** Rules that name a kind outright, the first that applies wins. */
const STATED: readonly KindRule[] = [
  {
    attribute: 'openinference.span.kind',
    kindOf: oneOf({
      llm: ['llm'],
      embedding: ['embedding'],
      chain: ['chain'],
      retriever: ['retriever'],
      reranker: ['reranker'],
      tool: ['tool'],
      agent: ['agent'],
      guardrail: ['guardrail'],
      evaluator: ['evaluator'],
      prompt: ['prompt'],
    }),
  },
  {
    attribute: 'gen_ai.operation.name',
    kindOf: oneOf({
      llm: ['chat', 'generate_content', 'text_completion', 'completion', 'generate'],
      embedding: ['embeddings'],
      retriever: ['retrieval', 'search_memory'],
      reranker: ['rerank'],
      tool: [
        'execute_tool',
        'create_memory',
        'update_memory',
        'upsert_memory',
        'delete_memory',
        'create_memory_store',
        'delete_memory_store',
      ],
      agent: ['create_agent', 'invoke_agent'],
      chain: ['invoke_workflow', 'plan', 'agent_step'],
    }),
  },
  {
    attribute: 'traceloop.span.kind',
    kindOf: oneOf({ chain: ['workflow', 'task'], agent: ['agent'], tool: ['tool'] }),
  },
  {
    attribute: 'llm.request.type',
    kindOf: oneOf({ llm: ['chat', 'completion'], embedding: ['embedding'], reranker: ['rerank'] }),
  },
  { attribute: 'ai.operationId', kindOf: vercel },
  { attribute: 'operation.name', kindOf: vercel },
  { attribute: 'gen_ai.tool.name', kindOf: always('tool') },
  { attribute: 'gen_ai.tool.call.id', kindOf: always('tool') },
];

/** Rules for spans without such a name, which come after «a model and token counts make it `llm`». */
const INFERRED: readonly KindRule[] = [
  { attribute: 'db.system', kindOf: always('database') },
  { attribute: 'db.system.name', kindOf: always('database') },
  { attribute: 'http.request.method', kindOf: always('http') },
  { attribute: 'http.method', kindOf: always('http') },
];

export const KIND_RULES: readonly KindRule[] = [...STATED, ...INFERRED];

/** A span with a model and token counts is `llm` unless one of the first so many rules said otherwise. */
export const USAGE_RANK = STATED.length;

export const USAGE_KIND = 'llm';

export const DEFAULT_KIND = 'generic';

/** Kinds that repeat the usage, and the cost, of the calls beneath them: what they state never counts. */
export const WRAPPER_KINDS: ReadonlySet<string> = new Set(['agent', 'chain', 'tool']);
