import type { SessionRead, TraceRead } from '../../src/engine/traces/model/list/fields.js';
import type { Api } from './api.js';
import { STAND_IN, type Judged } from './judge.js';
import type { Collected } from './people.js';
import { PROMPTS } from './prompts.js';
import type { DemoRequest } from './story.js';
import { HOUSE_MODEL, UNPRICED_MODEL } from './models.js';

/** What the server stores of a run. */
export interface Counts {
  readonly sessions: number;
  readonly traces: number;
  readonly spans: number;
  readonly errors: number;
  readonly cost: number;
}

/** Counts of this run, as the server answers them. */
export async function readBack(api: Api, run: string): Promise<Counts> {
  const tag = `demo=${encodeURIComponent(run)}&count=true`;
  const spans = await api.list(`/spans?${tag}&limit=1`);
  const errors = await api.list(`/spans?${tag}&limit=1&has_error=true`);
  const traces = await api.list(`/traces?${tag}&limit=1`);
  const sessions = await api.list(`/sessions?${tag}&limit=500`);
  const cost = (sessions.items as SessionRead[]).reduce((sum, session) => sum + (session.cost ?? 0), 0);
  return { sessions: sessions.total, traces: traces.total, spans: spans.total, errors: errors.total, cost };
}

export function summary(story: readonly DemoRequest[], counts: Counts): string {
  const spans = story.flatMap((request) => request.spans);
  const twice = story.filter(({ again }) => again);
  const sessions = new Set(spans.map(({ session }) => session?.id)).size;
  const failed = spans.filter(({ status }) => status === 'error').length;
  const row = (name: string, sent: number, stored: number) =>
    `  ${name.padEnd(18)}${String(sent).padStart(8)}${String(stored).padStart(10)}\n`;
  return (
    `\n  ${''.padEnd(18)}${'sent'.padStart(8)}${'stored'.padStart(10)}\n` +
    row('sessions', sessions, counts.sessions) +
    row('traces', story.length, counts.traces) +
    row('spans', spans.length, counts.spans) +
    row('spans with errors', failed, counts.errors) +
    `\n  ${twice.length} of ${story.length} requests were sent twice and counted once.\n` +
    `  The server priced the model calls: $${counts.cost.toFixed(4)} in total.\n`
  );
}

/** What was made beside the spans. */
export interface Found extends Judged, Collected {}

export function findings({ evaluations, corrections, feedback, link }: Found): string {
  const prompts = Object.values(PROMPTS);
  const versions = prompts.reduce((sum, prompt) => sum + prompt.versions.length, 0);
  return (
    `\n  ${prompts.length} prompts with ${versions} versions and moved tags, and ${feedback} reviews of answers by several people.\n` +
    `  A judge with ${evaluations} evaluations (${STAND_IN}), ${corrections} of them reviewed by a person.\n` +
    `  A custom price for ${HOUSE_MODEL.provider}/${HOUSE_MODEL.model}, and none for ${UNPRICED_MODEL.provider}/${UNPRICED_MODEL.model}: both models are fictional.\n` +
    (link === null ? '' : `  A feedback link, for people without an account: ${link}\n`)
  );
}

interface Told {
  readonly projectId: string;
  readonly run: string;
  readonly judgeId: string;
  readonly newKey: string | null;
}

export async function suggestions(api: Api, { projectId, run, judgeId, newKey }: Told): Promise<string> {
  const tag = `demo=${encodeURIComponent(run)}`;
  const { items } = await api.list(`/traces?${tag}&sort_by=cost&limit=1`);
  const [dearest] = items as TraceRead[];
  const longest = await api.list(`/sessions?${tag}&sort_by=trace_count&limit=1`);
  const [session] = longest.items as SessionRead[];
  const { url } = api;
  const curl = (path: string) => `  curl -sS '${url}${path}' -H "Authorization: Bearer $SPANHOUSE_KEY"\n`;
  const see = (what: string, path: string) => `  ${what.padEnd(40)}${url}/console/p/${projectId}/${path}\n`;
  const { slug } = PROMPTS['support-chat'];
  return (
    '\nIn the console (run `npm run admin -- signin` for a sign-in link, or paste a key):\n\n' +
    see('Overview', 'overview?range=1h') +
    see('Failed traces', 'traces?range=1h&has_error=true') +
    (dearest === undefined ? '' : see('Most expensive trace', `traces/${dearest.id}`)) +
    (session === undefined ? '' : see('Longest conversation', `sessions/${session.id}`)) +
    see('Compare two prompt versions', `prompts/${slug}?a=1&b=2`) +
    see('Agreement of judge and people', `judges/${judgeId}`) +
    see('Unreviewed answers', `review?prompt=${slug}`) +
    see('Unpriced models', 'settings?tab=prices') +
    (newKey === null
      ? '\nWith curl, using your key in SPANHOUSE_KEY:\n\n'
      : `\nWith curl, using a key created for you; save it in this terminal:\n\n  export SPANHOUSE_KEY=${newKey}\n\n`) +
    `Most expensive traces\n${curl(`/traces?sort_by=cost&limit=5&${tag}`)}` +
    (dearest === undefined
      ? ''
      : `All spans of the most expensive trace\n${curl(`/spans?trace_id=${dearest.id}&sort_by=started_at&sort_order=asc`)}`) +
    `Errors with stack traces\n${curl(`/spans?has_error=true&limit=10&fields=name,error_code,error_message,error_stack&${tag}`)}` +
    `Slow model calls\n${curl(`/spans?span_kind=llm&sort_by=duration_ms&limit=10&fields=name,duration_ms,cost,attributes&${tag}`)}` +
    `Sessions by cost\n${curl(`/sessions?sort_by=cost&limit=10&${tag}`)}` +
    `Traces of one feature\n${curl(`/traces?feature=order-desk&environment=production&${tag}`)}` +
    `Manual\n  ${url}/docs\n`
  );
}
