/** A kind of thing that can be wrong with stored data: what it is, whether a repair repairs it, and what to do. */
interface Flaw {
  readonly what: string;
  readonly mendable: boolean;
  /** What an operator does; where it is mendable, after or besides `check --repair`. */
  readonly todo: string;
}

const REPAIR = 'stop the server and run: npm run admin -- check --repair';
const RESTORE = 'restore a backup (npm run admin -- restore)';
const HALF_STORED =
  `${REPAIR}. Where files of the engine were lost, restore a backup instead: ` +
  'a repair makes metrics match what is left';

/** Everything that an audit may find. */
export const FLAWS = {
  span_without_fact: { what: 'spans missing from metrics', mendable: true, todo: REPAIR },
  fact_without_span: { what: 'spans counted in metrics but not stored', mendable: true, todo: HALF_STORED },
  fact_differs: { what: 'spans counted in metrics with values other than stored', mendable: true, todo: REPAIR },
  span_without_result: { what: 'spans of experiments missing from their results', mendable: true, todo: REPAIR },
  result_without_span: { what: 'results of experiments without a stored span', mendable: true, todo: REPAIR },
  result_differs: { what: 'results of experiments that differ from their spans', mendable: true, todo: REPAIR },
  span_shown_replaced: { what: 'replaced or deleted spans that lists still show', mendable: true, todo: REPAIR },
  span_hidden: { what: 'stored spans missing from lists', mendable: true, todo: REPAIR },
  trace_figures: { what: 'traces whose metrics differ from their spans', mendable: true, todo: REPAIR },
  trace_empty: { what: 'listed traces with no stored data', mendable: true, todo: HALF_STORED },
  trace_not_by_time: { what: 'traces that time-ordered lists miss', mendable: true, todo: REPAIR },
  session_part: { what: 'sessions that count a trace incorrectly', mendable: true, todo: REPAIR },
  session_figures: { what: 'sessions whose metrics differ from their traces', mendable: true, todo: REPAIR },
  session_empty: { what: 'listed sessions with no stored data', mendable: true, todo: HALF_STORED },
  session_not_by_time: { what: 'sessions that time-ordered lists miss', mendable: true, todo: REPAIR },
  words_missing: { what: 'spans whose text searches miss', mendable: true, todo: REPAIR },
  part_damaged: {
    what: 'damaged ClickHouse files',
    mendable: false,
    todo: `the disk may be failing: copy DATA_DIR elsewhere, then ${RESTORE}`,
  },
  part_detached: {
    what: 'unreadable ClickHouse files that it set aside: their rows are missing',
    mendable: false,
    todo: `${RESTORE}; where what is lost does not matter, remove them with ALTER TABLE … DROP DETACHED PART`,
  },
  project_unknown: {
    what: 'projects with spans but no metadata',
    mendable: false,
    todo:
      'restore the SQLite file that belongs to the spans, or recreate the project with its id ' +
      '(npm run admin -- create-project NAME --id ID), inspect it, and delete it if not needed (delete-project)',
  },
  sqlite_damaged: {
    what: 'damage in the SQLite file',
    mendable: false,
    todo: `keep a copy of the file, then ${RESTORE}`,
  },
  sqlite_reference: {
    what: 'SQLite rows that refer to missing rows',
    mendable: false,
    todo: `the file was edited by hand, or the disk lost a write: ${RESTORE}, or remove the rows by hand`,
  },
  dataset_counts: {
    what: 'datasets and experiments that count other rows, bytes or versions than there are',
    mendable: false,
    todo: `if an import of the project was interrupted, import it again; otherwise ${RESTORE}`,
  },
  dataset_content: {
    what: 'rows of datasets that differ from those sent',
    mendable: false,
    todo: `the disk may be failing: ${RESTORE}`,
  },
  evaluation_without_span: {
    what: 'evaluations of missing spans',
    mendable: false,
    todo: `if spans were lost, ${RESTORE}; otherwise DELETE /spans/ID removes the remains of one`,
  },
  run_without_span: {
    what: 'queued evaluations of missing spans',
    mendable: false,
    todo: 'DELETE /spans/ID removes the remains of one',
  },
  job_without_span: {
    what: 'unfinished jobs that use missing spans',
    mendable: false,
    todo: 'cancel the job, or DELETE /spans/ID, which fails it',
  },
  image_missing: {
    what: 'images that spans show but are not stored',
    mendable: false,
    todo: `copy the files from a backup into the image folder, ${RESTORE}, or send the spans again`,
  },
  image_damaged: {
    what: 'images whose bytes differ from those sent',
    mendable: false,
    todo: `the disk may be failing. Copy the files from a backup into the image folder, or ${RESTORE}`,
  },
  image_unreferenced: { what: 'stored images that no span shows', mendable: true, todo: REPAIR },
  file_unknown: {
    what: 'files in DATA_DIR unknown to Spanhouse',
    mendable: false,
    todo: 'move them elsewhere, or remove them if unneeded',
  },
} as const satisfies Record<string, Flaw>;

export type FlawName = keyof typeof FLAWS;
