import { Random, seedOf } from '../random.js';
import { COMPLAINTS, PRAISE } from './answers.js';
import type { Api } from './api.js';
import { forEach } from './pool.js';
import { PROMPTS } from './prompts.js';
import type { Completion } from './story.js';

/** People without an account, who use a feedback link. */
const REVIEWERS = ['Ann Lee', 'Ben Castillo', 'Chiara Rossi'];
const REVIEWED = 0.5;
/** Below what a link takes in a minute. */
const MAX_BY_LINK = 60;

export interface Collected {
  readonly feedback: number;
  /** URL of a link that was made now; null: what there was to say had been said. */
  readonly link: string | null;
}

interface Review extends Completion {
  /** Null: the user of the key. */
  readonly reviewer: string | null;
  readonly said: { readonly thumbs_up: boolean; readonly reason?: string; readonly expected_output?: string };
}

/**
 * Feedback on completions: of the user of the key, and of reviewers by a link of each prompt. What somebody has said of a
 * completion is not said again.
 * @param progress told the number of reviews that are through
 */
export async function collectFeedback(
  api: Api,
  { projectId, userName, reviews }: { projectId: string; userName: string; reviews: readonly Review[] },
  progress: (done: number) => void,
): Promise<Collected> {
  let [through, link]: [number, string | null] = [0, null];
  for (const { slug } of Object.values(PROMPTS)) {
    const known = await alreadySaid(api, `/projects/${projectId}/prompts/${slug}/feedback`);
    const ofPrompt = reviews.filter(({ prompt_slug }) => prompt_slug === slug);
    const missing = ofPrompt.filter(({ span_id, reviewer }) => !known.has(`${span_id} ${reviewer ?? userName}`));
    const url = missing.some(({ reviewer }) => reviewer !== null) ? await makeLink(api, slug) : '';
    const token = url.slice(url.lastIndexOf('/') + 1);
    await forEach(missing, ({ span_id: completion_id, reviewer, said }) =>
      reviewer === null
        ? api.send('POST', `/v1/prompts/${slug}/completions/${completion_id}/feedback`, said)
        : api.postReview(token, { completion_id, reviewer_name: reviewer, ...said }),
    );
    if (url !== '') link ??= url;
    progress((through += ofPrompt.length));
  }
  return { feedback: reviews.length, link };
}

async function makeLink(api: Api, prompt_slug: string): Promise<string> {
  const { url } = await api.send<{ url: string }>('POST', '/feedback-links', { prompt_slug });
  return url;
}

/** Who says what of which completions; the same for the same seed. */
export function reviewsOf(completions: readonly Completion[], seed: number): Review[] {
  const random = new Random(seedOf(seed, 0x2b));
  const byLink = new Map<string, number>();
  return completions.flatMap((completion) => {
    const { prompt_slug: slug, flaw, better } = completion;
    const reviewed = random.chance(REVIEWED);
    const reviewer = random.pick([...REVIEWERS, null]);
    const reason = flaw === null ? random.pick(PRAISE) : random.pick(COMPLAINTS[flaw]);
    const corrected = flaw !== null && random.chance(0.7);
    const used = byLink.get(slug) ?? 0;
    if (!reviewed || (reviewer !== null && used >= MAX_BY_LINK)) return [];
    if (reviewer !== null) byLink.set(slug, used + 1);
    const said = {
      thumbs_up: flaw === null,
      ...(reason !== null && { reason }),
      ...(corrected && { expected_output: better }),
    };
    return [{ ...completion, reviewer, said }];
  });
}

const PAGE = 500;

interface FeedbackRead {
  readonly completion_id: string;
  readonly created_by: { readonly name: string };
}

async function alreadySaid(api: Api, path: string): Promise<Set<string>> {
  const said = new Set<string>();
  for (let offset = 0; ; offset += PAGE) {
    const { feedback } = await api.read<{ feedback: FeedbackRead[] }>(`${path}?limit=${PAGE}&offset=${offset}`);
    for (const { completion_id, created_by } of feedback) said.add(`${completion_id} ${created_by.name}`);
    if (feedback.length < PAGE) return said;
  }
}
