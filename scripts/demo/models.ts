export interface Model {
  readonly provider: string;
  readonly model: string;
  /** Milliseconds per answered token. */
  readonly pace: number;
}

const HOUSE = 'northwind-lab';
/** A made-up model, which has a price of the project's own. */
export const HOUSE_MODEL = { provider: HOUSE, model: 'fjell-8b-instruct' };
/** A made-up model that nobody knows a price of. */
export const UNPRICED_MODEL = { provider: HOUSE, model: 'ridge-mini-preview' };

export const MODELS: readonly Model[] = [
  { provider: 'openai', model: 'gpt-4o', pace: 14 },
  { provider: 'anthropic', model: 'claude-sonnet-4-0', pace: 17 },
  { provider: 'gemini', model: 'gemini-2.5-flash', pace: 6 },
  { provider: 'openai', model: 'gpt-4o-mini', pace: 9 },
  { provider: 'mistral', model: 'mistral-large-latest', pace: 13 },
];
/** Decides what tool to call. */
export const SMALL: Model = { ...HOUSE_MODEL, pace: 5 };
export const EMBEDDING = { provider: 'openai', model: 'text-embedding-3-small' };
