import type { Style } from './answers.js';
import type { Api } from './api.js';

const FEATURES = ['support-chat', 'order-desk', 'buying-guide'] as const;
/** A part of the shop's assistant, which has a prompt of its own. */
export type Feature = (typeof FEATURES)[number];

interface PromptText {
  readonly content: string;
  readonly model_id?: string;
}

interface Prompt<Text extends PromptText = PromptText> {
  readonly slug: string;
  /** Oldest first. */
  readonly versions: readonly Text[];
  /** How tags were moved, by numbers of versions, in this order. */
  readonly pins: readonly (readonly [tag: string, version: number])[];
}

const SHOP = 'Northwind Outfitters';

export const PROMPTS: Readonly<Record<Feature, Prompt<PromptText & { readonly style: Style }>>> = {
  'support-chat': {
    slug: 'northwind-support-chat',
    versions: [
      {
        style: 'wordy',
        content:
          'You are the support assistant of {{shop}}, a shop for outdoor equipment. Answer the customer in detail and politely: thank them for ' +
          'their message, explain all that may matter, and close with an offer to help further.',
      },
      {
        style: 'plain',
        model_id: 'openai/gpt-4o',
        content:
          'You are the support assistant of {{shop}}, a shop for outdoor equipment. Answer briefly and kindly, in the language of the customer.\n' +
          'Use only the documents and order data you are given; when they do not hold the answer, say so and offer to hand over to a colleague.\n' +
          'Never promise a delivery date that the carrier has not confirmed, and never ask for card numbers.',
      },
      {
        style: 'brief',
        model_id: 'openai/gpt-4o-mini',
        content:
          'You are the support assistant of {{shop}}, a shop for outdoor equipment. Answer in at most two sentences, in the language of the customer.\n' +
          'Use only the documents and order data you are given.\n' +
          'Never promise a delivery date that the carrier has not confirmed, and never ask for card numbers.',
      },
    ],
    // The third version was too brief, and taken back.
    pins: [
      ['staging', 1],
      ['production', 1],
      ['staging', 2],
      ['production', 2],
      ['staging', 3],
      ['production', 3],
      ['production', 2],
    ],
  },
  'order-desk': {
    slug: 'northwind-order-desk',
    versions: [
      {
        style: 'wordy',
        content:
          'You are the order desk of {{shop}}. You can look up orders, start returns and issue refunds with the tools you are given. Be generous ' +
          'and explain every step.',
      },
      {
        style: 'brief',
        content:
          'You are the order desk of {{shop}}. You can look up orders, start returns and issue refunds with the tools you are given.\n' +
          'Check the order before every change. Answer in at most two sentences.',
      },
      {
        style: 'plain',
        content:
          'You are the order desk of {{shop}}. You can look up orders, start returns and issue refunds with the tools you are given.\n' +
          'Check the order before every change. Say what you did and what happens next.\n' +
          'Refunds above {{refund_limit}} EUR need a colleague: prepare them and say that somebody will confirm.',
      },
    ],
    pins: [
      ['production', 1],
      ['staging', 2],
      ['production', 2],
      ['staging', 3],
      ['production', 3],
    ],
  },
  'buying-guide': {
    slug: 'northwind-buying-guide',
    versions: [
      {
        style: 'wordy',
        content:
          'You write buying advice for {{shop}}. Compare products by facts from the catalog and from test reports.',
      },
      {
        style: 'plain',
        content:
          'You write buying advice for {{shop}}. Compare products by facts from the catalog and from test reports, name a drawback of each, ' +
          'and end with one recommendation. At most 180 words.',
      },
    ],
    pins: [
      ['production', 1],
      ['staging', 2],
    ],
  },
};

/** The system message that a version makes. */
export function systemMessage(feature: Feature, version: number): string {
  const content = PROMPTS[feature].versions[version]?.content ?? '';
  return content.replaceAll('{{shop}}', SHOP).replaceAll('{{refund_limit}}', '150');
}

/** A version as spans name it. */
export interface MadeVersion {
  readonly id: string;
  readonly version: number;
}

/** Versions of the assistant's prompts, the oldest first. */
export type MadePrompts = Readonly<Record<Feature, readonly MadeVersion[]>>;

export async function makePrompts(api: Api, projectId: string): Promise<MadePrompts> {
  const made = FEATURES.map(async (feature) => [feature, await makePrompt(api, projectId, PROMPTS[feature])] as const);
  return Object.fromEntries(await Promise.all(made)) as MadePrompts;
}

/** Makes what is not there yet: told again, no version and no move of a tag comes twice. */
export async function makePrompt(
  api: Api,
  projectId: string,
  { slug, versions, pins }: Prompt,
): Promise<readonly MadeVersion[]> {
  const made: MadeVersion[] = [];
  for (const { content, model_id } of versions)
    made.push(await api.send<MadeVersion>('POST', `/v1/tasks/${slug}/prompt/versions/ensure`, { content, model_id }));
  const tags = `/projects/${projectId}/prompts/${slug}/tags`;
  const done = new Map<string, number>();
  for (const tag of new Set(pins.map(([name]) => name))) {
    const history = await api.get(`${tags}/${tag}/history`);
    done.set(tag, history.ok ? ((await history.json()) as unknown[]).length : 0);
  }
  for (const [tag, version] of pins) {
    const left = done.get(tag) ?? 0;
    if (left > 0) done.set(tag, left - 1);
    else await api.send('POST', `${tags}/${tag}:pin`, { version: made[version - 1]?.version });
  }
  return made;
}
