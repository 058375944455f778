import type { Experiment } from '../../../model/experiments.js';
import { NOTHING, scoreText } from '../../../model/format.js';
import { Choice } from '../../parts/choice.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { DataTable, type Column } from '../../parts/data-table.js';
import { Cost, Took } from '../../parts/figures.js';
import { Pager } from '../../parts/pager.js';
import { Answered, Empty } from '../../parts/states.js';
import { hrefWith, place } from '../../state/location.js';
import { offsetAsked } from '../prompts/asked.js';
import { pathOfExperiment } from './data.js';
import { useResults, type Result } from './results.js';
import { ResultView } from './result-view.js';

const PAGE = 50;
/** Characters of a text that a cell holds. */
const CELL = 200;
/** Scores that have a column; a result that is opened has all. */
const SCORES = 6;

/** The results of an experiment, by row. */
export function ResultList({ experiment }: { readonly experiment: Experiment }) {
  const { query } = place.value;
  const { id, repetitions } = experiment;
  const only = query.get('has_error');
  const asked = {
    limit: PAGE,
    offset: offsetAsked(),
    ...((only === 'true' || only === 'false') && { has_error: only }),
  };
  const answer = useResults(id, asked, experiment.status === 'running');
  const [row, repetition] = [query.get('row'), Number(query.get('repetition') ?? 1)];
  const isNarrowed = 'has_error' in asked;
  return (
    <section class="stack many-columns" aria-label="Results">
      <div class="line apart">
        <h2>Results</h2>
        <div class="line">
          <Choice
            label="Errors"
            name="has_error"
            options={[
              ['true', 'with errors'],
              ['false', 'without errors'],
            ]}
          />
          <CopyAsCurl path={pathOfExperiment(id, '/results')} query={asked} />
        </div>
      </div>
      <Answered answer={answer}>
        {({ results, total, next_offset: next }) => (
          <>
            {results.length === 0 ? (
              <Empty title={isNarrowed ? 'No results match' : 'No results yet'}>
                {isNarrowed ? (
                  <a href={hrefWith({ has_error: null, offset: null })}>Show all results</a>
                ) : (
                  'They appear here as your program sends them.'
                )}
              </Empty>
            ) : (
              <DataTable
                caption="Results"
                columns={columnsFor(experiment, results)}
                rows={results}
                idOf={(result) => result.id}
                hrefOf={(result) =>
                  hrefWith({ row: result.row_id, repetition: repetitions > 1 ? String(result.repetition) : null })
                }
              />
            )}
            {next !== null && next < asked.offset + PAGE && (
              <p class="soft">
                These results are too large to show {PAGE} at once.{' '}
                <a href={hrefWith({ offset: String(next) })}>Show the next ones</a>
              </p>
            )}
            <Pager offset={asked.offset} limit={PAGE} shown={results.length} total={total} />
          </>
        )}
      </Answered>
      {row !== null && <ResultView experiment={experiment} row={row} repetition={repetition} />}
    </section>
  );
}

function columnsFor({ repetitions, figures }: Experiment, results: readonly Result[]): Column<Result>[] {
  const text = (name: string, label: string, of: (result: Result) => string | null): Column<Result> => ({
    name,
    label,
    cell: (result) => <bdi>{of(result)?.slice(0, CELL) ?? NOTHING}</bdi>,
    full: (result) => of(result)?.slice(0, 3 * CELL),
  });
  // A row made of a span that no one expected anything of says null.
  const expects = results.some(({ row }) => row?.expected != null && row.expected !== 'null');
  return [
    {
      name: 'row',
      label: 'Row',
      cell: ({ row_id, repetition }) => (
        <bdi>
          {row_id}
          {repetitions > 1 && ` · ${repetition}`}
        </bdi>
      ),
      full: ({ row_id }) => row_id,
    },
    text('input', 'Input', ({ row }) => row?.input_data ?? null),
    ...(expects ? [text('expected', 'Expected', ({ row }) => row?.expected ?? null)] : []),
    {
      name: 'output',
      label: 'Output',
      cell: (result) => <Output of={result} />,
      full: ({ output_data, error_message }) => (error_message ?? output_data).slice(0, 3 * CELL),
    },
    ...figures.scores.slice(0, SCORES).map(({ name, mean }): Column<Result> => ({
      name: `score ${name}`,
      label: name.slice(0, 40),
      named: true,
      figure: mean !== null,
      cell: ({ scores }) => <bdi>{Object.hasOwn(scores, name) ? scoreText(scores[name] ?? '') : NOTHING}</bdi>,
    })),
    { name: 'cost', label: 'Cost', named: true, figure: true, cell: ({ cost }) => <Cost of={cost} /> },
    {
      name: 'took',
      label: 'Duration',
      named: true,
      figure: true,
      cell: ({ duration_ms }) => <Took ms={duration_ms} />,
    },
  ];
}

function Output({ of: { output_data, has_error, error_message } }: { readonly of: Result }) {
  if (!has_error) return <bdi>{output_data.slice(0, CELL) || NOTHING}</bdi>;
  return (
    <>
      <span class="badge bad">error</span> <bdi>{(error_message ?? output_data).slice(0, CELL)}</bdi>
    </>
  );
}
