/** Whether a feedback link works, or why it does not. */
export type LinkState = 'open' | 'expired' | 'revoked';

interface Ends {
  readonly expires_at: string;
  readonly revoked_at: string | null;
}

export function linkState({ expires_at, revoked_at }: Ends, now: number = Date.now()): LinkState {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= now ? 'expired' : 'open';
}
