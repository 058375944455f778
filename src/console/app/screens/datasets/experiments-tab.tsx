import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Failure, Skeleton } from '../../parts/states.js';
import type { TabProps } from './tab-props.js';

/** The experiments on the dataset, in any version, whose chunk is loaded with the tab. */
export function ExperimentsTab({ dataset }: TabProps) {
  const [Loaded, setLoaded] = useState<ComponentType<{ readonly dataset: string }> | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    import('../experiments/index.js').then(({ ExperimentsOf }) => setLoaded(() => ExperimentsOf), setFailure);
  }, []);
  if (failure !== null) return <Failure error={failure} retry={() => location.reload()} />;
  return Loaded === null ? <Skeleton /> : <Loaded dataset={dataset.name} />;
}
