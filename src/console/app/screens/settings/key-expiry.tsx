import { counted } from '../../../model/format.js';
import { expiresSoon, hasExpired } from '../../../model/key-expiry.js';
import { When } from '../../parts/figures.js';

/** Says which keys are to be rotated now. */
export function ExpiringKeys({ keys }: { readonly keys: readonly { readonly expires_at: string | null }[] }) {
  const soon = keys.filter(({ expires_at: at }) => expiresSoon(at)).length;
  if (soon === 0) return null;
  return (
    <p class="hint">
      {counted(soon, 'key expires', 'keys expire')} within 7 days. To replace a key without an interruption, rotate it.
    </p>
  );
}

/** When a key expires; with a warning when that is soon, or has been. */
export function KeyExpiry({ at }: { readonly at: string | null }) {
  if (at === null) return <>never</>;
  if (hasExpired(at))
    return (
      <>
        <span class="badge bad">expired</span> <When at={at} relative />
      </>
    );
  return (
    <>
      {expiresSoon(at) && <span class="badge warn">expires soon</span>} <When at={at} />
    </>
  );
}
