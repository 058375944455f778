import type { Database } from '../../../engine/metadata/database.js';
import { MAX_PINS } from '../../judges/pin.js';
import type { MetadataPart } from '../parts.js';
import { missing, owners, TAKEN, text, type Misfit, type Take, type Values } from './take.js';

/** How the records of pinned versions of judges are stored. */
export function pinTakers(db: Database) {
  const find = db.prepare<[unknown, string], number>('SELECT 1 FROM judges WHERE id = ? AND project_id = ?').pluck();
  const hasJudge = (projectId: string, id: unknown) => find.get(id, projectId) === 1;
  return {
    pinned_examples: exampleTaker(db, hasJudge),
    pinned_versions: versionTaker(db, hasJudge),
    experiment_judges: experimentTaker(db, hasJudge),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

type HasJudge = (projectId: string, id: unknown) => boolean;

function exampleTaker(db: Database, hasJudge: HasJudge): Take {
  const judgeOf = db.prepare<[unknown], string>('SELECT judge_id FROM judge_pin_examples WHERE id = ?').pluck();
  const insert = db.prepare<Values>(
    'INSERT INTO judge_pin_examples (id, judge_id, span_id, example) VALUES (@id, @judge_id, @span_id, @example)',
  );
  return (projectId, record) => {
    if (!hasJudge(projectId, record['judge_id'])) return missing('judge_id', 'judge');
    const known = judgeOf.get(record['id']);
    if (known === record['judge_id']) return false;
    if (known !== undefined) return { field: 'id', detail: TAKEN, taken: true };
    insert.run({ ...record, example: text(record['example']) });
    return true;
  };
}

function versionTaker(db: Database, hasJudge: HasJudge): Take {
  const known = pinOf(db);
  const count = db.prepare<[unknown], number>('SELECT count(*) FROM judge_pins WHERE judge_id = ?').pluck();
  const insert = db.prepare<Values>(
    `INSERT INTO judge_pins (project_id, judge_id, judge_version, prompt_version_id, revision, created_at, lost_at)
     VALUES (@projectId, @judge_id, @judge_version, @prompt_version_id, @revision, @created_at, @lost_at)`,
  );
  const example = db
    .prepare<[unknown, unknown], number>('SELECT seq FROM judge_pin_examples WHERE id = ? AND judge_id = ?')
    .pluck();
  const show = db.prepare<[number | bigint, number, number]>(
    'INSERT INTO judge_pin_corrections (pin, position, example) VALUES (?, ?, ?)',
  );
  return (projectId, record) => {
    const judge = record['judge_id'];
    if (!hasJudge(projectId, judge)) return missing('judge_id', 'judge');
    if (known(record) !== undefined) return false;
    if ((count.get(judge) ?? 0) >= MAX_PINS)
      return { field: 'judge_id', detail: `already has the maximum of ${MAX_PINS} versions`, taken: true };
    const shown: number[] = [];
    for (const id of record['examples'] as readonly string[]) {
      const seq = example.get(id, judge);
      if (seq === undefined)
        return { field: 'examples', detail: 'names no example of this judge: import the parts in order' };
      shown.push(seq);
    }
    const pin = insert.run({ ...record, projectId }).lastInsertRowid;
    for (const [position, seq] of shown.entries()) show.run(pin, position, seq);
    return true;
  };
}

function experimentTaker(db: Database, hasJudge: HasJudge): Take {
  const own = owners(db, 'experiments');
  const pin = pinOf(db);
  const insert = db.prepare<Values>(
    'INSERT INTO experiment_judges (experiment, pin, asked_at) VALUES (@experiment, @pin, @asked_at) ON CONFLICT DO NOTHING',
  );
  return (projectId, record): boolean | Misfit => {
    const experiment = own.seqOf(projectId, record['experiment_id']);
    if (experiment === undefined) return missing('experiment_id', 'experiment');
    if (!hasJudge(projectId, record['judge_id'])) return missing('judge_id', 'judge');
    const seq = pin(record);
    if (seq === undefined) return missing('judge_version', 'pinned version of the judge');
    return insert.run({ ...record, experiment, pin: seq }).changes > 0;
  };
}

function pinOf(db: Database) {
  const find = db
    .prepare<[unknown, unknown], number>('SELECT seq FROM judge_pins WHERE judge_id = ? AND judge_version = ?')
    .pluck();
  return (record: Values) => find.get(record['judge_id'], record['judge_version']);
}
