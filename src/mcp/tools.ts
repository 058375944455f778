/** A tool of the MCP server: a call of the API under a name that says what an agent does with it. */
export interface Tool {
  readonly name: string;
  /** The call's `operationId`. */
  readonly call: string;
  /** What it is for, beyond what the API says of the call; default: the summary of the call. */
  readonly description?: string;
  /** Parameters where the agent gives none. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Whether it changes something: a key that may only read has no such tool. */
  readonly changes?: true;
  /** How its answer is made, where it is more than that of the call. */
  readonly as?: 'text' | 'span' | 'versions';
}

/** Fields of lists without texts, which agents then read of the objects they choose. */
const TRACE_FIELDS =
  'id,name,status,started_at,duration_ms,cost,span_count,error_count,root_span_input,root_span_output,root_span_error,session_id,tags';
const SPAN_FIELDS =
  'id,trace_id,parent_span_id,name,kind,status,started_at,duration_ms,cost,model,input_tokens,output_tokens,error_code,error_message,input_data,output_data';
const ROWS = { limit: 20 };
const SHORT_TEXTS = { ...ROWS, text_limit: 300 };

const READS: readonly Tool[] = [
  {
    name: 'search_traces',
    call: 'listTraces',
    description:
      'Finds traces by filters, sorted by any figure: failed ones (has_error), slow or expensive ones (sort_by), by text (q) or tag. Then use read_trace.',
    defaults: { ...SHORT_TEXTS, fields: TRACE_FIELDS },
  },
  {
    name: 'search_spans',
    call: 'listSpans',
    description:
      'Finds spans: single model calls, tool calls and steps, by kind, name, model, error code, text and more.',
    defaults: { ...SHORT_TEXTS, fields: SPAN_FIELDS },
  },
  { name: 'search_sessions', call: 'listSessions', description: 'Finds sessions (conversations).', defaults: ROWS },
  {
    name: 'read_trace',
    call: 'getTraceText',
    as: 'text',
    description:
      'Reads a trace as a tree of its spans with inputs, outputs and errors, within max_tokens. What is left out is said; read_span has it whole.',
  },
  {
    name: 'read_session',
    call: 'getSessionText',
    as: 'text',
    description: 'Reads a conversation: input, output and errors of each of its traces, within max_tokens.',
  },
  {
    name: 'read_span',
    call: 'getSpan',
    as: 'span',
    description:
      'Reads a span with its texts. With `field`, reads that field alone from `offset` on, however long it is.',
  },
  { name: 'trace_statistics', call: 'getTracesStatistics', description: figuresOf('traces') },
  { name: 'span_statistics', call: 'getSpansStatistics', description: figuresOf('spans') },
  { name: 'session_statistics', call: 'getSessionsStatistics', description: figuresOf('sessions') },
  { name: 'trace_facets', call: 'getTracesFacets', description: valuesIn('traces') },
  { name: 'span_facets', call: 'getSpansFacets', description: valuesIn('spans') },
  { name: 'session_facets', call: 'getSessionsFacets', description: valuesIn('sessions') },
  { name: 'explain_cost', call: 'explainCost' },
  { name: 'list_prompts', call: 'listPrompts', defaults: ROWS },
  {
    name: 'read_prompt',
    call: 'getPrompt',
    description: 'Reads a version of a prompt: the newest, or by version or tag.',
  },
  { name: 'list_prompt_versions', call: 'listPromptVersions' },
  {
    name: 'compare_prompt_versions',
    call: 'getPrompt',
    as: 'versions',
    description: 'Shows what changed between two versions of a prompt, line by line.',
  },
  { name: 'prompt_version_statistics', call: 'getPromptVersionStatistics' },
  { name: 'list_prompt_feedback', call: 'listPromptFeedback', defaults: ROWS },
  { name: 'read_feedback', call: 'getUnifiedFeedback', defaults: ROWS },
  { name: 'list_scores', call: 'listScores', defaults: ROWS },
  { name: 'list_score_definitions', call: 'listScoreDefinitions' },
  { name: 'list_datasets', call: 'listDatasets', defaults: ROWS },
  { name: 'read_dataset', call: 'getDatasetRows', defaults: ROWS },
  { name: 'list_experiments', call: 'listExperiments', defaults: ROWS },
  { name: 'read_experiment', call: 'getExperiment' },
  { name: 'list_experiment_results', call: 'listExperimentResults', defaults: ROWS },
  { name: 'list_comparisons', call: 'listComparisons', defaults: ROWS },
  { name: 'read_comparison', call: 'getComparison' },
  { name: 'list_compared_rows', call: 'listComparedRows', defaults: ROWS },
  { name: 'list_judges', call: 'listJudges', defaults: ROWS },
  { name: 'list_judge_evaluations', call: 'listJudgeEvaluations', defaults: ROWS },
];

const CHANGES: readonly Tool[] = [
  {
    name: 'compare_experiments',
    call: 'createComparison',
    changes: true,
    description: 'Compares two experiments on the same dataset by rules, and stores the comparison.',
  },
  { name: 'add_scores', call: 'postScores', changes: true },
  { name: 'give_feedback', call: 'submitSpanFeedback', changes: true },
  { name: 'add_spans_to_dataset', call: 'addDatasetRowsFromSpans', changes: true },
];

export const TOOLS: readonly Tool[] = [...READS, ...CHANGES];

/** The calls by which tools change something. */
export function changingCalls(): string[] {
  return CHANGES.map(({ call }) => call);
}

function figuresOf(what: string): string {
  return `Counts ${what} that match, with errors, cost, duration percentiles and tokens: in total, over time (bucket) and by group (group_by).`;
}

function valuesIn(what: string): string {
  return `Lists the values of a field among ${what} that match, such as names, models, error codes or tags, with how often each occurs.`;
}
