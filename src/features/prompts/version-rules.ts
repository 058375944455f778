import { createHash } from 'node:crypto';
import type { Issue } from '../../engine/errors.js';
import { sortedJson } from '../../engine/json-text.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import { compile } from '../../engine/validation/validation.js';
import { writeMessages, type Template } from './prompt-messages.js';
import { MAX_CONTENT_BYTES, PromptMessages } from './schema.js';

/** A version as it comes in, as far as it fits the schema. */
export interface StatedVersion {
  readonly content?: string | null;
  readonly messages?: Template['messages'];
  readonly config?: Readonly<Record<string, unknown>> | null;
  readonly content_hash?: string | null;
  readonly metadata?: unknown;
}

/** What tells versions of a prompt apart. */
export interface VersionContent extends Template {
  readonly config: Readonly<Record<string, unknown>>;
}

/** What a version would have as content; of one without any, the text is empty. */
function contentOf({ content, messages, config }: StatedVersion): VersionContent {
  const isChat = messages != null;
  return {
    content: isChat ? writeMessages(messages) : (content ?? ''),
    messages: isChat ? messages : null,
    config: config ?? {},
  };
}

/** A version that was checked. */
interface CheckedVersion {
  /** What is wrong with it that no schema can say. */
  readonly issues: readonly Issue[];
  readonly content: VersionContent;
  /** Of the content; '' where that is too large to be hashed, or none. */
  readonly hash: string;
}

/** @param isChat whether the content is the JSON of messages */
export function checkVersion(stated: StatedVersion, isChat = stated.messages != null): CheckedVersion {
  const content = contentOf(stated);
  const issues = versionIssues(stated, content.content);
  if (issues.some(({ pointer }) => !pointer.startsWith('/metadata'))) return { issues, content, hash: '' };
  const hash = hashOf(content.content, { isChat, config: content.config });
  return { issues: [...issues, ...hashIssues(stated, hash)], content, hash };
}

/** @param text the content as it would be kept */
function versionIssues({ content, messages, metadata, config }: StatedVersion, text: string): Issue[] {
  return [
    ...(messages == null ? textIssues('/content', content) : messageIssues(messages, text)),
    ...(messages != null && content != null
      ? [{ pointer: '/messages', detail: 'must not be combined with content' }]
      : []),
    ...metadataIssues(metadata),
    ...metadataIssues(config, '/config'),
  ];
}

/** Whether a version is said to have another hash. @param hash of its content */
function hashIssues({ content_hash }: StatedVersion, hash: string): Issue[] {
  if (content_hash == null || content_hash.toLowerCase() === hash) return [];
  return [{ pointer: '/content_hash', detail: 'must be the SHA-256 of the content' }];
}

/** Content that cannot be kept byte for byte is refused rather than changed. */
function textIssues(pointer: string, text: string | null | undefined): Issue[] {
  if (text == null) return [{ pointer, detail: 'is required, unless there are messages' }];
  if (!text.isWellFormed()) return [{ pointer, detail: 'must not contain an unpaired surrogate' }];
  if (Buffer.byteLength(text) <= MAX_CONTENT_BYTES) return [];
  return [{ pointer, detail: `must be at most ${MAX_CONTENT_BYTES} bytes` }];
}

function messageIssues(messages: NonNullable<Template['messages']>, text: string): Issue[] {
  const broken = messages.findIndex((message) => 'content' in message && !message.content.isWellFormed());
  if (broken !== -1) return textIssues(`/messages/${broken}/content`, '\ud800');
  return textIssues('/messages', text);
}

const messagesSchema = compile(PromptMessages);

/** What is wrong with a text that is to be the JSON of messages. */
export function chatContentIssues(content: string): Issue[] {
  const detail = 'must be the JSON of the messages of the version, as an export writes it';
  try {
    const parsed: unknown = JSON.parse(content);
    return messagesSchema.accepts(parsed) && writeMessages(parsed) === content ? [] : [{ pointer: '/content', detail }];
  } catch {
    return [{ pointer: '/content', detail }];
  }
}

/** A byte that no text in UTF-8 has: what is more than a text has the hash of none. */
const NO_TEXT = Buffer.from([0xff]);

/**
 * The hash that tells the content of a version from others: of a text alone its SHA-256 in UTF-8, else that of all that belongs to the
 * content, whatever the order of members in `config`.
 */
export function hashOf(content: string, { isChat = false, config = {} }: HashedBeside = {}): string {
  const hash = createHash('sha256');
  if (isChat || Object.keys(config).length > 0)
    hash.update(NO_TEXT).update(sortedJson({ isChat, config }), 'utf8').update(NO_TEXT);
  return hash.update(content, 'utf8').digest('hex');
}

interface HashedBeside {
  readonly isChat?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
}
