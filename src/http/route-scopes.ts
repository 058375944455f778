import type { Scope } from '../engine/identity/scopes.js';

/** What the calls of each group are about. A group that is not here does not compile. */
const NOUNS = {
  Traces: 'spans',
  Langfuse: 'spans',
  LangSmith: 'spans',
  Phoenix: 'scores',
  Prompts: 'prompts',
  Playground: 'prompts',
  Optimizations: 'prompts',
  Scores: 'scores',
  Feedback: 'feedback',
  Comments: 'feedback',
  Sharing: 'shares',
  Judges: 'judges',
  Calibration: 'judges',
  Datasets: 'datasets',
  Experiments: 'datasets',
  Comparisons: 'datasets',
  Monitors: 'monitors',
  Webhooks: 'monitors',
  Dashboards: 'dashboards',
  'Saved views': 'dashboards',
  'Model prices': 'project',
  'API keys': 'project',
  People: 'project',
  Projects: 'project',
  Audit: 'project',
  Moving: 'project',
  Deletions: 'project',
  'Scheduled exports': 'project',
  Masking: 'project',
  'Signing in': 'project',
  Operations: 'project',
} as const;

/** A group of calls in the documentation. */
export type Tag = keyof typeof NOUNS;

interface Scoped {
  readonly method: string;
  readonly tag: Tag;
  readonly operationId: string;
  readonly scopes?: readonly Scope[];
}

/** The scopes that a call needs, all of them: those it states, else to read or to write what its group is about. */
export function scopesOfRoute({ method, tag, operationId, scopes }: Scoped): readonly Scope[] {
  if (scopes !== undefined) return scopes;
  const noun = (NOUNS as Readonly<Record<string, (typeof NOUNS)[Tag]>>)[tag];
  if (noun === undefined) throw new Error(`${operationId}: no scope is known for the group ${tag}`);
  if (method === 'GET') return [`${noun}:read`];
  return noun === 'project' ? ['admin'] : [`${noun}:write`];
}
