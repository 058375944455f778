import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { Empty, Failure, Skeleton } from '../parts/states.js';
import { request } from '../state/api.js';
import { useAgain } from '../state/query.js';
import { chunkOf, refusalOfScreen, screenNamed } from './screens.js';
import type { ScreenProps } from './screen-props.js';

/** Loads the chunk of a screen, and shows it. A defect of a screen leaves the frame as it is. */
export function ScreenShown({ name, id }: { readonly name: string; readonly id: string | null }) {
  const screen = screenNamed(name);
  const [Loaded, setLoaded] = useState<ComponentType<ScreenProps> | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [broken, mend] = useErrorBoundary() as [unknown, () => void];
  const tell = (error: unknown) => void request('/healthz').then(() => setFailure(error), setFailure);
  const refused = screen === undefined ? null : refusalOfScreen(screen);
  const load = () => {
    setFailure(null);
    chunkOf(name, id)?.then((chunk) => setLoaded(() => chunk.default), tell);
  };
  // A script that failed once is never loaded again by the same page.
  useAgain(failure, () => void request('/healthz').then(() => location.reload(), setFailure));
  useEffect(() => {
    load();
    document.title = `${screen?.label ?? 'Not found'} · Spanhouse`;
  }, [screen]);
  if (screen === undefined)
    return (
      <Empty title="Page not found" isPage>
        Choose a page in the navigation.
      </Empty>
    );
  if (refused !== null)
    return (
      <Empty title={`You may not see ${screen.label}`} isPage>
        <p>{refused}. An administrator of this project can give you another role.</p>
      </Empty>
    );
  if (broken !== undefined) return <Failure error={broken} retry={mend} isPage />;
  if (failure !== null) return <Failure error={failure} retry={() => location.reload()} isPage />;
  return Loaded === null ? <Skeleton /> : <Loaded id={id} />;
}
