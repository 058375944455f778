/** A kind of thing that can be wrong with stored data: what it is, whether a repair mends it, and what to do. */
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
  'a repair makes figures agree with what is left';

/** Everything that an audit may find. */
export const FLAWS = {
  span_without_fact: { what: 'spans that no figure counts', mendable: true, todo: REPAIR },
  fact_without_span: { what: 'spans that figures count and that are not stored', mendable: true, todo: HALF_STORED },
  fact_differs: { what: 'spans that figures count with other values than are stored', mendable: true, todo: REPAIR },
  span_shown_replaced: { what: 'replaced or deleted spans that lists still show', mendable: true, todo: REPAIR },
  span_hidden: { what: 'stored spans that lists do not show', mendable: true, todo: REPAIR },
  trace_figures: { what: 'traces whose figures are not those of their spans', mendable: true, todo: REPAIR },
  trace_empty: { what: 'traces in lists of which nothing is stored', mendable: true, todo: HALF_STORED },
  trace_not_by_time: { what: 'traces that lists by time do not find', mendable: true, todo: REPAIR },
  session_part: { what: 'sessions that count a trace wrongly', mendable: true, todo: REPAIR },
  session_figures: { what: 'sessions whose figures are not those of their traces', mendable: true, todo: REPAIR },
  session_empty: { what: 'sessions in lists of which nothing is stored', mendable: true, todo: HALF_STORED },
  session_not_by_time: { what: 'sessions that lists by time do not find', mendable: true, todo: REPAIR },
  words_missing: { what: 'spans whose texts searches do not find', mendable: true, todo: REPAIR },
  part_damaged: {
    what: 'files of ClickHouse that are damaged',
    mendable: false,
    todo: `the disk may be failing: copy DATA_DIR elsewhere, then ${RESTORE}`,
  },
  part_detached: {
    what: 'files of ClickHouse that it could not read and has put aside: their rows are missing',
    mendable: false,
    todo: `${RESTORE}; where what is lost does not matter, remove them with ALTER TABLE … DROP DETACHED PART`,
  },
  project_unknown: {
    what: 'projects with spans that the metadata does not know',
    mendable: false,
    todo:
      'restore the SQLite file that belongs to the spans, or give the project its id back ' +
      '(npm run admin -- create-project NAME --id ID), look at it, and delete it (delete-project) if it is to go',
  },
  sqlite_damaged: {
    what: 'damage of the SQLite file',
    mendable: false,
    todo: `keep a copy of the file, then ${RESTORE}`,
  },
  sqlite_reference: {
    what: 'rows of SQLite that name something that is not there',
    mendable: false,
    todo: `somebody has changed the file by hand, or the disk lost a write: ${RESTORE}, or remove the rows by hand`,
  },
  evaluation_without_span: {
    what: 'evaluations of spans that are gone',
    mendable: false,
    todo: `if spans were lost, ${RESTORE}; else DELETE /spans/ID removes what is left of one`,
  },
  run_without_span: {
    what: 'queued evaluations of spans that are gone',
    mendable: false,
    todo: 'DELETE /spans/ID removes what is left of one',
  },
  job_without_span: {
    what: 'unfinished jobs that work with spans that are gone',
    mendable: false,
    todo: 'cancel the job, or DELETE /spans/ID, which fails it',
  },
  image_missing: {
    what: 'images that spans show and that are not stored',
    mendable: false,
    todo: `copy the files from a backup into the folder of images, ${RESTORE}, or send the spans again`,
  },
  image_damaged: {
    what: 'images whose bytes are not those that were sent',
    mendable: false,
    todo: `the disk may be failing. Copy the files from a backup into the folder of images, or ${RESTORE}`,
  },
  image_unreferenced: { what: 'stored images that no span shows', mendable: true, todo: REPAIR },
  file_unknown: {
    what: 'files in DATA_DIR that Spanhouse knows nothing of',
    mendable: false,
    todo: 'move them elsewhere, or remove them if nobody needs them',
  },
} as const satisfies Record<string, Flaw>;

export type FlawName = keyof typeof FLAWS;
