import { Type, type Static } from '@sinclair/typebox';
import { isJsonObject } from '../../engine/json-object.js';
import { optional } from '../../engine/schema/inputs.js';
import { line, oneOf, uuid } from '../../engine/schema/parts.js';
import { compile } from '../../engine/validation/validation.js';
import type { SelectedVersion } from '../../features/prompts/prompt.js';
import { writeMessages } from '../../features/prompts/prompt-messages.js';
import { MAX_PROMPT_MESSAGES, type PromptMessage } from '../../features/prompts/schema.js';

/*
 * A version of a prompt of Phoenix is a chat version here. What has no place in messages is in its config, as the client sent it, so
 * that it gets back what it sent. Versions that were made elsewhere are read as if a client had sent their messages.
 */

/** Providers of Phoenix, and what they are called in the names of models. */
const PROVIDERS = {
  ...{ OPENAI: 'openai', AZURE_OPENAI: 'azure', ANTHROPIC: 'anthropic', GOOGLE: 'google', DEEPSEEK: 'deepseek' },
  ...{ XAI: 'x_ai', AWS: 'aws', OLLAMA: 'ollama', CEREBRAS: 'cerebras', FIREWORKS: 'fireworks', GROQ: 'groq' },
  ...{ MOONSHOT: 'moonshot', PERPLEXITY: 'perplexity', TOGETHER: 'together' },
} as const;
type Provider = keyof typeof PROVIDERS;
const PROVIDER_NAMES = Object.keys(PROVIDERS) as Provider[];
const FORMATS = ['MUSTACHE', 'F_STRING', 'NONE'] as const;
/** Most parts of one message. */
const MAX_PARTS = 1_000;

const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

const Message = Type.Object(
  {
    role: line(64, 'Role, such as `system`, `user` or `assistant`.'),
    content: Type.Union([Type.String(), Type.Array(object('A part.'), { minItems: 1, maxItems: MAX_PARTS })], {
      description: 'Text, or parts: texts, calls of tools and their results.',
    }),
  },
  { description: 'A message.' },
);
type Message = Static<typeof Message>;
const Messages = Type.Array(Message, { minItems: 1, maxItems: MAX_PROMPT_MESSAGES, description: 'The messages.' });

const shared = {
  model_provider: oneOf(PROVIDER_NAMES, 'Who has the model.'),
  template: Type.Object(
    { type: Type.Literal('chat', { description: 'Only messages are supported.' }), messages: Messages },
    { description: 'What the prompt says.' },
  ),
  template_type: Type.Literal('CHAT', { description: 'Only messages are supported.' }),
  template_format: oneOf(FORMATS, 'How placeholders are written; they are not filled in by the server.'),
  invocation_parameters: object('Parameters of the model.'),
};

/** A version as clients send it. */
export const VersionSent = Type.Object(
  {
    ...shared,
    model_name: line(256, 'Name of the model.'),
    description: optional(Type.String({ description: 'What the version is; kept in `metadata`.' })),
    tools: optional(object('Tools.')),
    response_format: optional(object('Form of the response.')),
  },
  { description: 'The version.' },
);
type VersionSent = Static<typeof VersionSent>;

export const VersionRead = Type.Object(
  {
    ...shared,
    id: uuid('Id of the version.'),
    model_name: Type.String({ description: 'Name of the model; empty where the version is bound to none.' }),
    description: Type.String({ description: 'What the version is.' }),
    tools: Type.Optional(object('Tools.')),
    response_format: Type.Optional(object('Form of the response.')),
  },
  { $id: 'PhoenixPromptVersion', description: 'A version of a prompt, as clients of Phoenix read it.' },
);

/** The body of `ensurePromptVersion` that makes the same version. */
export function toEnsure({ template: { messages }, description, ...sent }: VersionSent): Record<string, unknown> {
  const { model_provider, model_name, template_format, invocation_parameters, tools, response_format } = sent;
  const model = `${PROVIDERS[model_provider]}/${model_name}`;
  return {
    messages: messages.map(plainMessage),
    config: {
      ...{ model_provider, model_name, template_format, invocation_parameters },
      ...(tools != null && { tools }),
      ...(response_format != null && { response_format }),
      ...(messages.some(({ content }) => typeof content !== 'string') && { messages }),
    },
    ...(model_name !== '' && { model_id: model }),
    metadata: { ...(description != null && description !== '' && { description }) },
  };
}

/** A message whose parts are one text. */
function plainMessage({ role, content }: Message): PromptMessage {
  return { role, content: typeof content === 'string' ? content : content.map(textOf).join('\n') };
}

function textOf(part: Readonly<Record<string, unknown>>): string {
  return part['type'] === 'text' && typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part);
}

const accepted = {
  messages: compile(Messages),
  model_provider: compile(shared.model_provider),
  template_format: compile(shared.template_format),
};

export function toVersionRead(version: SelectedVersion): Static<typeof VersionRead> {
  const { id, config, metadata } = version;
  const model = modelOf(version);
  const { template_format: format, invocation_parameters: parameters, tools, response_format } = config;
  const { description } = metadata;
  return {
    id,
    ...model,
    template: { type: 'chat', messages: messagesOf(version) },
    template_type: 'CHAT',
    template_format: accepted.template_format.accepts(format) ? format : 'MUSTACHE',
    invocation_parameters: isJsonObject(parameters) ? parameters : parametersOf(model.model_provider),
    description: typeof description === 'string' ? description : '',
    ...(isJsonObject(tools) && { tools }),
    ...(isJsonObject(response_format) && { response_format }),
  };
}

/** The messages as a client sent them; of others, places for messages are variables, and a text is one message. */
function messagesOf({ messages, content, config }: SelectedVersion): Message[] {
  const sent = config['messages'];
  if (messages === null) return [{ role: 'user', content }];
  if (accepted.messages.accepts(sent) && writeMessages(sent.map(plainMessage)) === content) return sent;
  return messages.map((message) =>
    'name' in message ? { role: 'user', content: `{{${message.name}}}` } : { ...message },
  );
}

function modelOf({ config, model_id }: SelectedVersion): { model_provider: Provider; model_name: string } {
  const { model_provider: provider, model_name: name } = config;
  if (accepted.model_provider.accepts(provider) && typeof name === 'string' && name.length <= 256)
    return { model_provider: provider, model_name: name };
  const [prefix = '', ...rest] = (model_id ?? '').split('/');
  const known = PROVIDER_NAMES.find((each) => PROVIDERS[each] === prefix);
  const whole = known === undefined ? (model_id ?? '') : rest.join('/');
  return { model_provider: known ?? 'OPENAI', model_name: whole.slice(0, 256) };
}

/** No parameters, as clients name them for a provider. Anthropic's need one. */
function parametersOf(provider: Provider): Record<string, unknown> {
  const type = provider.toLowerCase();
  return { type, [type]: provider === 'ANTHROPIC' ? { max_tokens: 1000 } : {} };
}
