import type { Static } from '@sinclair/typebox';
import { useState } from 'preact/hooks';
import type { SpanRowsRead } from '../../../../features/datasets/schema.js';
import { counted } from '../../../model/format.js';
import { mappingMistake, mappingOf, proposedMapping, type MappedColumn } from '../../../model/span-mapping.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field } from '../../parts/field.js';
import { Answered, Failure } from '../../parts/states.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { hrefOf } from '../../state/location.js';
import { datasetsChanged, useDatasets, type Dataset } from './data.js';
import { DatasetChoice } from './dataset-choice.js';
import { MappingFields } from './mapping-fields.js';
import { NO_SAMPLE, SampleFields } from './sample-fields.js';
import { SpanRowsPreview } from './span-rows-preview.js';

/** Spans by their ids, or all that a query of `GET /spans` finds. */
export type ChosenSpans =
  | { readonly span_ids: readonly string[] }
  | {
      readonly query: string;
      /** Whether they are so many that a part of them may do. */
      readonly isList: boolean;
    };

type Outcome = Static<typeof SpanRowsRead>;

interface AddSpansDialogProps {
  readonly spans: ChosenSpans;
  readonly onClose: () => void;
}

/** Makes rows of spans: into which dataset, which columns of what, and how many, after a look ahead. */
export function AddSpansDialog({ spans, onClose }: AddSpansDialogProps) {
  const datasets = useDatasets({ limit: 200 });
  const [dataset, setDataset] = useState<Dataset | null>(null);
  return (
    <Dialog title="Add to a dataset" wide onClose={onClose}>
      <Answered answer={datasets} rows={3}>
        {({ rows }) => <DatasetChoice datasets={rows} chosen={dataset} onChoose={setDataset} />}
      </Answered>
      {dataset !== null && <SpanRowsForm key={dataset.id} dataset={dataset} spans={spans} onClose={onClose} />}
    </Dialog>
  );
}

interface SpanRowsFormProps extends AddSpansDialogProps {
  readonly dataset: Dataset;
}

function SpanRowsForm({ dataset, spans, onClose }: SpanRowsFormProps) {
  const { name } = dataset;
  const [columns, setColumns] = useState<readonly MappedColumn[]>(() => proposedMapping(dataset));
  const [sample, setSample] = useState(NO_SAMPLE);
  const [message, setMessage] = useState('');
  // With what it was asked for: it says nothing of anything else.
  const [ahead, setAhead] = useState<{ readonly asked: string; readonly outcome: Outcome } | null>(null);
  const { busy, failure, run } = useAction();
  const isList = 'query' in spans && spans.isList;
  const chosen = isList && sample.count !== '';
  const request = {
    ...('query' in spans ? { query: spans.query } : spans),
    mapping: mappingOf(columns),
    ...(chosen && { sample: Number(sample.count), seed: sample.seed, stratify_by: sample.by || null }),
  };
  const asked = JSON.stringify(request);
  const outcome = ahead?.asked === asked ? ahead.outcome : null;
  const ask = (body: object) =>
    call('POST /v1/datasets/:name+/rows:from_spans', { params: { name }, body: { ...request, ...body } });
  const look = async () => setAhead({ asked, outcome: await ask({ dry_run: true }) });
  const add = async () => {
    const { version } = await ask({ message: message.trim() });
    await datasetsChanged();
    announce(`${name} has version ${version?.version_number ?? '–'} with ${counted(version?.row_count ?? 0, 'row')}`);
    onClose();
  };
  const mistake =
    mappingMistake(columns) ?? (chosen && !isSample(sample.count) ? 'Enter a sample of 1 to 10,000' : null);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (mistake === null) run(outcome === null ? look : add);
      }}
    >
      <MappingFields columns={columns} known={dataset.latest_version?.columns ?? []} onChange={setColumns} />
      {isList && <SampleFields sample={sample} onChange={setSample} />}
      {outcome !== null && <SpanRowsPreview outcome={outcome} />}
      {outcome !== null && outcome.rows > 0 && (
        <Field label="Message" hint="Optional: describes the version.">
          <input
            class="input"
            maxLength={10_000}
            value={message}
            onInput={({ currentTarget: { value } }) => setMessage(value)}
          />
        </Field>
      )}
      {failure !== null && <Failure error={failure} />}
      <div class="line">
        {outcome === null ? (
          <Button type="submit" look="main" busy={busy} changes="datasets:write" refused={mistake}>
            Preview
          </Button>
        ) : (
          <Button
            type="submit"
            look="main"
            icon="plus"
            changes="datasets:write"
            busy={busy}
            refused={outcome.rows === 0 ? 'No span gives a row that is not there yet' : null}
          >
            Add {counted(outcome.rows, 'row')}
          </Button>
        )}
        <Button onClick={onClose}>Cancel</Button>
        <a href={hrefOf({ screen: 'datasets', id: name })}>Open dataset</a>
      </div>
    </form>
  );
}

const isSample = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 10_000;
