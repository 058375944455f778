import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure } from './states.js';

interface LazyProps<P> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

/** A component whose script is loaded when it is first shown. */
export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const [Shown, setShown] = useState<ComponentType<P> | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => void load().then((loaded) => setShown(() => loaded), setFailure), []);
  if (failure !== null) return <Failure error={failure} />;
  return Shown === null ? null : <Shown {...props} />;
}
