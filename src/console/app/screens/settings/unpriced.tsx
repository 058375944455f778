import { useState } from 'preact/hooks';
import type { UnpricedPage } from '../../../../features/prices/http/schema.js';
import { count, NOTHING } from '../../../model/format.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { When } from '../../parts/figures.js';
import { Pager } from '../../parts/pager.js';
import { Answered } from '../../parts/states.js';
import { call, ofProject } from '../../state/api.js';
import { hrefOf, place } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { PriceDialog } from './price-dialog.js';
import { RepriceDialog } from './reprice-dialog.js';

type UnpricedModel = UnpricedPage['models'][number];

const LIMIT = 20;

/** Models whose calls have no cost, with what to do about each. */
export function Unpriced() {
  const [dialog, setDialog] = useState<{ readonly of: UnpricedModel; readonly does: 'price' | 'reprice' } | null>(null);
  const offset = Number(place.value.query.get('offset') ?? 0) || 0;
  const query = { limit: LIMIT, offset };
  const path = ofProject('/model-prices:unpriced');
  const answer = useQuery({
    key: [path, query],
    ask: (signal) => call('GET /projects/:project_id/model-prices:unpriced', { query, signal }),
  });
  const close = () => setDialog(null);
  return (
    <section class="stack" aria-labelledby="unpriced">
      <div class="line apart">
        <h2 id="unpriced">Unpriced models</h2>
        <CopyAsCurl path={path} query={query} />
      </div>
      <Answered answer={answer} rows={3}>
        {({ models, total }) =>
          total === 0 ? (
            <p class="soft">Every call with known tokens has a cost.</p>
          ) : (
            <>
              <DataTable
                caption="Unpriced models"
                twoLine={false}
                columns={columnsOf((of, does) => setDialog({ of, does }))}
                rows={models}
                idOf={({ provider, model }) => JSON.stringify([provider, model])}
              />
              <Pager offset={offset} limit={LIMIT} shown={models.length} total={total} />
            </>
          )
        }
      </Answered>
      {dialog?.does === 'price' && (
        <PriceDialog provider={dialog.of.provider ?? ''} model={dialog.of.model} onClose={close} />
      )}
      {dialog?.does === 'reprice' && (
        <RepriceDialog provider={dialog.of.provider ?? ''} model={dialog.of.model} onClose={close} />
      )}
    </section>
  );
}

function columnsOf(open: (of: UnpricedModel, does: 'price' | 'reprice') => void): Column<UnpricedModel>[] {
  return [
    { name: 'model', label: 'Model', cell: ({ model }) => <bdi>{model}</bdi>, full: ({ model }) => model },
    {
      name: 'provider',
      label: 'Provider',
      cell: ({ provider }) => (provider === null ? NOTHING : <bdi>{provider}</bdi>),
    },
    { name: 'spans', label: 'Spans', figure: true, cell: (row) => <a href={spansOf(row)}>{count(row.spans)}</a> },
    { name: 'input', label: 'Input tokens', figure: true, cell: ({ input_tokens }) => count(input_tokens) },
    { name: 'output', label: 'Output tokens', figure: true, cell: ({ output_tokens }) => count(output_tokens) },
    { name: 'latest', label: 'Latest', cell: ({ latest_started_at }) => <When at={latest_started_at} relative /> },
    {
      name: 'actions',
      label: 'Actions',
      cell: (row) =>
        row.has_price ? (
          <Button
            icon="refresh"
            changes
            label={`Recalculate costs of ${row.model}`}
            onClick={() => open(row, 'reprice')}
          >
            Recalculate
          </Button>
        ) : (
          <Button icon="price" changes label={`Set price of ${row.model}`} onClick={() => open(row, 'price')}>
            Set price
          </Button>
        ),
    },
  ];
}

/** The list of just these calls; the server's own are among them. */
function spansOf({ provider, model }: UnpricedModel): string {
  const comma = (name: string) => name.replaceAll(',', '%2C');
  return hrefOf({
    screen: 'spans',
    query: {
      range: 'all',
      models: comma(model),
      ...(provider === null ? { unpriced: 'no_provider' } : { unpriced: 'any', providers: comma(provider) }),
      internal: 'true',
    },
  });
}
