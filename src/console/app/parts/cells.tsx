import { valueIn } from '../../model/dataset-cells.js';
import { JsonView } from './json-view.js';

/** The cells of a row in full, each below the name of its column. */
export function Cells({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.keys(of).map((column) => (
        <section key={column} class="stack">
          <p class="soft">
            <bdi>{column}</bdi>
          </p>
          <JsonView value={valueIn(of, column)} label={column} />
        </section>
      ))}
    </>
  );
}
