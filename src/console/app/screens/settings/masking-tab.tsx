import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from '../../parts/states.js';

/** The masking rules, whose script few need. */
export default function MaskingTab() {
  const [Shown, setShown] = useState<ComponentType | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    import('./masking.js').then((chunk) => setShown(() => chunk.Masking), setFailure);
  }, []);
  if (failure !== null) return <Failure error={failure} />;
  return Shown === null ? <div aria-busy="true" /> : <Shown />;
}
