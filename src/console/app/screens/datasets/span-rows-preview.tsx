import type { Static } from '@sinclair/typebox';
import type { SpanRowsRead } from '../../../../features/datasets/schema.js';
import { cellText, valueIn } from '../../../model/dataset-cells.js';
import { count, counted } from '../../../model/format.js';

/** How many rows there would be, why others are left out, and the first of them. */
export function SpanRowsPreview({ outcome }: { readonly outcome: Static<typeof SpanRowsRead> }) {
  const { matched, rows, empty, duplicates, preview } = outcome;
  const columns = Object.keys(preview[0] ?? {});
  return (
    <section class="stack" aria-label="Preview">
      <p role="status">
        <b>{counted(rows, 'row')}</b> of {counted(matched, 'span')}
        {empty > 0 && `; ${count(empty)} left out without a value`}
        {duplicates > 0 && `; ${count(duplicates)} left out as copies of other rows`}.
      </p>
      {rows > 0 && (
        <div class="table-box" role="region" aria-label="First rows" tabIndex={0}>
          <table class="table">
            <caption class="unseen">First rows</caption>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {preview.map((row, index) => (
                <tr key={index}>
                  {columns.map((column) => (
                    <td key={column}>
                      <bdi>{cellText(valueIn(row, column))}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
