import type { ApiKeyRead } from '../../../../features/api-keys/http/schema.js';
import { counted } from '../../../model/format.js';
import { expiresSoon, hasExpired } from '../../../model/key-expiry.js';
import { When } from '../../parts/figures.js';

type Key = Pick<ApiKeyRead, 'expires_at' | 'rotated_at'>;

/** Says which keys are to be rotated now. */
export function ExpiringKeys({ keys }: { readonly keys: readonly Key[] }) {
  const soon = keys.filter(({ expires_at: at, rotated_at }) => rotated_at === null && expiresSoon(at)).length;
  if (soon === 0) return null;
  return (
    <p class="hint">
      {counted(soon, 'key expires', 'keys expire')} within 7 days. To replace a key without an interruption, rotate it.
    </p>
  );
}

/** When a key expires; with a warning when that is soon, or has been, and with a word where another one replaces it. */
export function KeyExpiry({ of: { expires_at: at, rotated_at } }: { readonly of: Key }) {
  if (at === null) return <>never</>;
  if (hasExpired(at))
    return (
      <>
        <span class="badge bad">expired</span> <When at={at} relative />
      </>
    );
  return (
    <>
      {rotated_at !== null ? (
        <span class="badge">rotated</span>
      ) : (
        expiresSoon(at) && <span class="badge warn">expires soon</span>
      )}{' '}
      <When at={at} />
    </>
  );
}
