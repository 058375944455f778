import type { FieldRule, Source } from './source.js';

/** Where users of the AI SDK say what it has no words for: up to version 6, and since. */
const AI_METADATA = ['ai.telemetry.metadata', 'ai.settings.context'] as const;
const aiMetadata = (...names: readonly string[]): string[] =>
  AI_METADATA.flatMap((prefix) => names.map((name) => `${prefix}.${name}`));
const AI_LANGFUSE_PROMPT = 'ai.telemetry.metadata.langfusePrompt';

const ASSOCIATION = 'traceloop.association.properties';
const LANGSMITH_METADATA = 'langsmith.metadata';
const LAMINAR = 'lmnr.association.properties';

/** Members of OpenInference's `metadata`, which alone travels with its context in every language. */
function metadataMembers(...members: readonly string[]): Source[] {
  return members.map((member) => ({ within: 'metadata', member }));
}

/** What a span says of its surroundings: prompt, session, user, tags, name, errors, place in the source. */
export const CONTEXT_FIELDS = {
  /** A prompt's slug or id. Own names come first, though they are looked at where they are as well. */
  promptSlug: {
    becomes: 'attribute `prompt_slug` of a call: slug or id of its prompt',
    reads: 'slug',
    sources: [
      'prompt_slug',
      'task',
      'zeroeval.prompt_slug',
      'zeroeval.task',
      'gen_ai.prompt.name',
      'prompt.id',
      ...metadataMembers('prompt_slug', 'promptSlug'),
      'traceloop.prompt.key',
      `${ASSOCIATION}.prompt_slug`,
      ...aiMetadata('promptSlug', 'prompt_slug', 'task'),
      { within: AI_LANGFUSE_PROMPT, member: 'name' },
      'langfuse.observation.prompt.name',
    ],
  },
  promptVersionId: {
    becomes: 'attribute `prompt_version_id` of a call',
    reads: 'uuid',
    sources: [
      'prompt_version_id',
      'zeroeval.prompt_version_id',
      ...metadataMembers('prompt_version_id', 'promptVersionId'),
      `${ASSOCIATION}.prompt_version_id`,
      ...aiMetadata('promptVersionId', 'prompt_version_id'),
    ],
  },
  promptVersion: {
    becomes: 'attribute `prompt_version` of a call',
    reads: 'version',
    sources: [
      'prompt_version',
      'gen_ai.prompt.version',
      'llm.prompt_template.version',
      ...metadataMembers('prompt_version', 'promptVersion'),
      'traceloop.prompt.version',
      'traceloop.prompt.version_name',
      `${ASSOCIATION}.prompt_version`,
      ...aiMetadata('promptVersion', 'prompt_version'),
      { within: AI_LANGFUSE_PROMPT, member: 'version' },
      'langfuse.observation.prompt.version',
    ],
  },
  promptVariables: {
    becomes: 'attribute `variables` of a call',
    reads: 'object',
    sources: [
      'variables',
      { each: 'gen_ai.prompt.variable' },
      'llm.prompt_template.variables',
      'traceloop.prompt.template_variables',
      { each: 'traceloop.prompt.template_variables' },
    ],
  },
  session: {
    becomes: 'session',
    reads: 'text',
    sources: [
      'zeroeval.session.id',
      // in quotes where MLflow sends it
      { json: 'session.id' },
      'gen_ai.conversation.id',
      'langfuse.session.id',
      `${ASSOCIATION}.session_id`,
      ...aiMetadata('sessionId', 'session_id'),
      ...['session_id', 'thread_id', 'conversation_id'].map((name) => `${LANGSMITH_METADATA}.${name}`),
      { json: 'mlflow.trace.session' },
      `${LAMINAR}.session_id`,
    ],
  },
  sessionName: { becomes: 'name of the session', reads: 'text', sources: ['zeroeval.session.name', 'session.name'] },
  user: {
    becomes: 'tag `user`',
    reads: 'text',
    sources: [
      { json: 'user.id' },
      'enduser.id',
      `${ASSOCIATION}.user_id`,
      'gen_ai.user',
      'llm.user',
      ...aiMetadata('userId', 'user_id'),
      'langfuse.user.id',
      `${LANGSMITH_METADATA}.user_id`,
      { json: 'mlflow.trace.user' },
      `${LAMINAR}.user_id`,
    ],
  },
  service: { becomes: 'tag `service`', reads: 'text', sources: ['service.name'] },
  environment: {
    becomes: 'tag `environment`',
    reads: 'text',
    sources: ['deployment.environment.name', 'deployment.environment', 'langfuse.environment'],
  },
  release: { becomes: 'tag `release`', reads: 'text', sources: ['langfuse.release'] },
  version: { becomes: 'tag `version`', reads: 'text', sources: ['langfuse.version'] },
  project: {
    becomes: 'tag `project`',
    reads: 'text',
    sources: ['langsmith.trace.session_name', 'openinference.project.name'],
  },
  tags: {
    becomes: 'a tag of each name, of the value `true`',
    reads: 'names',
    sources: [
      'tag.tags',
      `${ASSOCIATION}.tags`,
      ...aiMetadata('tags'),
      'langfuse.trace.tags',
      'langfuse.tags',
      'langsmith.span.tags',
      `${LAMINAR}.tags`,
    ],
  },
  traceName: {
    becomes: '`name` of the root span, and so of the trace',
    reads: 'text',
    sources: ['langfuse.trace.name'],
  },
  functionId: {
    becomes: '`name` of an operation of the AI SDK',
    reads: 'text',
    sources: ['ai.telemetry.functionId', 'resource.name', 'gen_ai.agent.name'],
  },
  level: {
    becomes: '`status` when none is set: `ERROR` is `error`',
    reads: 'text',
    sources: ['langfuse.observation.level'],
  },
  levelMessage: {
    becomes: '`error_message` of a failed span without another',
    reads: 'text',
    sources: ['langfuse.observation.status_message'],
  },
  errorType: {
    becomes: '`error_code` of a failed span without exception',
    reads: 'text',
    sources: ['error.type', 'exception.type'],
  },
  codeFile: { becomes: '`code_filepath`', reads: 'text', sources: ['code.file.path', 'code.filepath'] },
  codeLine: { becomes: '`code_lineno`', reads: 'line', sources: ['code.line.number', 'code.lineno'] },
} as const satisfies Record<string, FieldRule>;

type ContextField = keyof typeof CONTEXT_FIELDS;

/** What links a call to its prompt, by the names under which it is written into the call's attributes. */
export const PROMPT_ATTRIBUTES = {
  prompt_slug: 'promptSlug',
  prompt_version_id: 'promptVersionId',
  prompt_version: 'promptVersion',
  variables: 'promptVariables',
} as const satisfies Record<string, ContextField>;

/** Fields that become the tag of their name, of the span, its trace and its session; the limited ones if there is room. */
export const TAG_FIELDS = ['service', 'environment', 'user'] as const satisfies readonly ContextField[];
export const LIMITED_TAG_FIELDS = ['release', 'version', 'project'] as const satisfies readonly ContextField[];

/**
 * Metadata, of which every name that is no source above becomes a tag: attributes `<each>.<name>`, or the members of one that
 * is an object or the JSON text of one. Some is about the span alone, and not about its trace and session.
 */
export type MetadataSource = ({ readonly each: string } | { readonly within: string }) & { readonly ofSpan?: true };

export const METADATA: readonly MetadataSource[] = [
  { within: 'metadata', ofSpan: true },
  { each: ASSOCIATION },
  ...AI_METADATA.map((each) => ({ each })),
  { each: 'langfuse.trace.metadata' },
  { within: 'langfuse.trace.metadata' },
  { each: 'langfuse.observation.metadata', ofSpan: true },
  { within: 'langfuse.observation.metadata', ofSpan: true },
  { each: LANGSMITH_METADATA, ofSpan: true },
  { each: 'mlflow.traceTag' },
  { each: `${LAMINAR}.metadata` },
];
