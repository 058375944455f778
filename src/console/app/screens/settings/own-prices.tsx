import { useState } from 'preact/hooks';
import type { ModelPriceRead } from '../../../../features/prices/http/schema.js';
import { counted, money, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Ending } from '../../parts/ending.js';
import { Cost, When } from '../../parts/figures.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject, pathOf } from '../../state/api.js';
import { useQuery } from '../../state/query.js';
import { PriceDialog } from './price-dialog.js';
import { pricesChanged } from './price-calls.js';

type Rate = 'input_per_million' | 'output_per_million' | 'cache_read_per_million';

/** The project's own prices, each beside the list price. */
export function OwnPrices() {
  const [editing, setEditing] = useState<ModelPriceRead | 'new' | null>(null);
  const [removing, setRemoving] = useState<ModelPriceRead | null>(null);
  const path = ofProject('/model-prices');
  const answer = useQuery({ key: [path], ask: (signal) => call('GET /projects/:project_id/model-prices', { signal }) });
  const close = () => setEditing(null);
  return (
    <section class="stack" aria-labelledby="own-prices">
      <div class="line apart">
        <h2 id="own-prices">Custom prices</h2>
        <div class="line">
          <CopyAsCurl path={path} />
          <Button icon="plus" changes onClick={() => setEditing('new')}>
            Add price
          </Button>
        </div>
      </div>
      <p class="soft">They override list prices, shown below each. US dollars per million tokens.</p>
      <Answered answer={answer} rows={3}>
        {(prices) =>
          prices.length === 0 ? (
            <p class="soft">None; list prices apply.</p>
          ) : (
            <>
              <DataTable
                caption="Custom prices"
                twoLine={false}
                columns={columnsOf(setEditing, setRemoving)}
                rows={prices}
                idOf={({ provider, model }) => JSON.stringify([provider, model])}
              />
              <p class="soft">{counted(prices.length, 'price')}</p>
            </>
          )
        }
      </Answered>
      {editing === 'new' && <PriceDialog provider="" model="" onClose={close} />}
      {editing !== null && editing !== 'new' && <PriceDialog {...editing} current={editing} onClose={close} />}
      {removing !== null && <RemovePrice of={removing} onClose={() => setRemoving(null)} />}
    </section>
  );
}

function RemovePrice({ of, onClose }: { readonly of: ModelPriceRead; readonly onClose: () => void }) {
  return (
    <Ending
      title="Remove this price?"
      action="Remove price"
      path={pathOf('DELETE /projects/:project_id/model-prices/:provider/:model+', { params: of })}
      done="Price removed"
      onDone={pricesChanged}
      onClose={onClose}
    >
      <p>
        New calls of <bdi>{of.model}</bdi> from <bdi>{of.provider}</bdi>{' '}
        {of.list_price === null ? 'get no cost, as there is no list price' : 'get the list price'}. Stored costs do not
        change until you recalculate them.
      </p>
    </Ending>
  );
}

function columnsOf(
  edit: (price: ModelPriceRead) => void,
  remove: (price: ModelPriceRead) => void,
): Column<ModelPriceRead>[] {
  const rate = (name: Rate, label: string): Column<ModelPriceRead> => ({
    name,
    label,
    figure: true,
    cell: ({ list_price, [name]: own }) => (
      <>
        <Cost of={own} />
        <span class="list-price soft small"> list {list_price === null ? NOTHING : money(list_price[name])}</span>
      </>
    ),
  });
  return [
    { name: 'model', label: 'Model', cell: ({ model }) => <bdi>{model}</bdi>, full: ({ model }) => model },
    { name: 'provider', label: 'Provider', cell: ({ provider }) => <bdi>{provider}</bdi> },
    rate('input_per_million', 'Input'),
    rate('output_per_million', 'Output'),
    rate('cache_read_per_million', 'Cached input'),
    { name: 'set', label: 'Updated', cell: ({ updated_at }) => <When at={updated_at} /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (price) => (
        <span class="actions">
          <Button
            look="quiet"
            icon="edit"
            changes
            label={`Change price of ${price.model}`}
            onClick={() => edit(price)}
          />
          <Button
            look="quiet"
            icon="trash"
            changes
            label={`Remove price of ${price.model}`}
            onClick={() => remove(price)}
          />
        </span>
      ),
    },
  ];
}
