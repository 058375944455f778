import { unquoted } from './readings.js';

/** Says what kind of span an attribute's value makes of it; `undefined`: nothing, ask the next rule. */
type KindOf = (value: string) => string | undefined;

interface Kinds {
  readonly kindOf: KindOf;
  /** The same for the manual: each kind with the values that make it, in words where they are no list. */
  readonly shown: readonly (readonly [kind: string, values: readonly string[] | string])[];
}

export interface KindRule extends Kinds {
  /** The attribute to look at; the rule about usage looks at what {@link MAPPING} found instead. */
  readonly attribute: string;
}

function oneOf(kinds: Readonly<Record<string, readonly string[]>>): Kinds {
  const shown = Object.entries(kinds);
  const byValue = new Map(
    shown.flatMap(([kind, values]) => values.map((value) => [value.toLowerCase(), kind] as const)),
  );
  return { kindOf: (value) => byValue.get(value.toLowerCase()), shown };
}

/** Kinds that the convention calls as they are called here. */
function same(...kinds: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(kinds.map((kind) => [kind, [kind]]));
}

function always(kind: string): Kinds {
  return { kindOf: () => kind, shown: [[kind, 'anything']] };
}

const vercelOperation = oneOf({
  llm: [
    'ai.generateText.doGenerate',
    'ai.generateObject.doGenerate',
    'ai.streamText.doStream',
    'ai.streamObject.doStream',
  ],
  embedding: ['ai.embed.doEmbed', 'ai.embedMany.doEmbed'],
  reranker: ['ai.rerank.doRerank'],
  tool: ['ai.toolCall'],
});

/** `ai.operationId` is the operation alone; `operation.name` may be followed by the name of the function. */
const vercel: Kinds = {
  kindOf: (value) => {
    const [operation = ''] = value.split(' ', 1);
    return operation.startsWith('ai.') ? (vercelOperation.kindOf(operation) ?? 'chain') : undefined;
  },
  shown: [...vercelOperation.shown, ['chain', 'other `ai.*`']],
};

/** What MLflow calls kinds, which stays so where it is told to use names of OpenTelemetry. */
const MLFLOW: Readonly<Record<string, readonly string[]>> = {
  llm: ['llm', 'chat_model'],
  chain: ['chain', 'workflow', 'task'],
  tool: ['tool', 'memory'],
  ...same('agent', 'retriever', 'parser', 'embedding', 'reranker', 'guardrail', 'evaluator'),
};
const mlflow = oneOf(MLFLOW);

/** Rules that name a kind outright, the first that applies wins. */
const STATED: readonly KindRule[] = [
  {
    attribute: 'langfuse.observation.type',
    ...oneOf({
      llm: ['generation'],
      ...same('embedding', 'chain', 'retriever', 'tool', 'agent', 'guardrail', 'evaluator'),
    }),
  },
  {
    attribute: 'openinference.span.kind',
    ...oneOf(
      same('llm', 'embedding', 'chain', 'retriever', 'reranker', 'tool', 'agent', 'guardrail', 'evaluator', 'prompt'),
    ),
  },
  {
    attribute: 'langsmith.span.kind',
    ...oneOf(same('llm', 'embedding', 'chain', 'retriever', 'tool', 'prompt', 'parser')),
  },
  {
    attribute: 'gen_ai.operation.name',
    ...oneOf({
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
    ...oneOf({ chain: ['workflow', 'task'], agent: ['agent'], tool: ['tool'] }),
  },
  {
    attribute: 'llm.request.type',
    ...oneOf({ llm: ['chat', 'completion'], embedding: ['embedding'], reranker: ['rerank'] }),
  },
  { attribute: 'ai.operationId', ...vercel },
  { attribute: 'operation.name', ...vercel },
  { attribute: 'gen_ai.operation.name', ...mlflow },
  {
    attribute: 'mlflow.spanType',
    ...mlflow,
    kindOf: (value) => {
      const kind = unquoted(value);
      return typeof kind === 'string' ? mlflow.kindOf(kind) : undefined;
    },
  },
  {
    attribute: 'lmnr.span.type',
    ...oneOf({
      llm: ['LLM'],
      tool: ['TOOL'],
      evaluator: ['EVALUATOR', 'HUMAN_EVALUATOR'],
      // CACHED: an answer from memory, which costs nothing
      chain: ['DEFAULT', 'PIPELINE', 'EVALUATION', 'EXECUTOR', 'CACHED'],
    }),
  },
  { attribute: 'gen_ai.tool.name', ...always('tool') },
  { attribute: 'gen_ai.tool.call.id', ...always('tool') },
];

/** Rules for spans without such a name, which come after «a model and token counts make it `llm`». */
const INFERRED: readonly KindRule[] = [
  { attribute: 'db.system', ...always('database') },
  { attribute: 'db.system.name', ...always('database') },
  { attribute: 'http.request.method', ...always('http') },
  { attribute: 'http.method', ...always('http') },
];

export const KIND_RULES: readonly KindRule[] = [...STATED, ...INFERRED];

/** A span with a model and token counts is `llm` unless one of the first so many rules said otherwise. */
export const USAGE_RANK = STATED.length;

export const USAGE_KIND = 'llm';

export const DEFAULT_KIND = 'generic';
