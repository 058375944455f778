import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { Judge } from './judge.js';
import type { JudgeCaller } from './judge-caller.js';
import type { JudgeStore } from './judge-store.js';
import type { Ending } from './recorder.js';
import type { Run } from './run.js';
import type { RunOutcome, RunStore } from './run-store.js';
import type { SubjectReader } from './subject-reader.js';

/** A run with its judge, span and model. */
export interface Ready {
  readonly run: Run;
  readonly judge: Judge;
  readonly span: JudgedSpan;
  /** Model to ask, as of when the run was made ready; null: none is named. */
  readonly model: string | null;
}

export interface ReadyParts {
  readonly runs: Pick<RunStore, 'reading'>;
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly subjects: Pick<SubjectReader, 'read'>;
  readonly caller: Pick<JudgeCaller, 'modelOf'>;
  /** Called with runs that end before they begin. */
  readonly onEnded: (ending: Ending) => void;
}

/** Reads what runs of a project are about. Those whose judge is gone end. @throws DomainError when the store does not answer */
export async function makeReady(parts: ReadyParts, project: string, runs: readonly Run[]): Promise<Ready[]> {
  const { runs: store, judges, caller, subjects, onEnded } = parts;
  const ofWholes = runs.flatMap(({ id, subject_id }) => (subject_id == null ? [] : [id]));
  if (ofWholes.length > 0) store.reading(ofWholes);
  const ids = [...new Set(runs.map(({ judge_id }) => judge_id))];
  const found = await subjects.read(project, runs, new Map(ids.map((id) => [id, judges.find(project, id)])));
  // They may have changed meanwhile.
  const known = new Map<string, Pick<Ready, 'judge' | 'model'> | undefined>();
  for (const id of ids) {
    const judge = judges.find(project, id);
    known.set(id, judge && { judge, model: caller.modelOf(judge) });
  }
  return runs.flatMap((run) => {
    const judged = known.get(run.judge_id);
    const subject = found.get(run.id);
    if (judged !== undefined && subject !== undefined && 'span' in subject)
      return [{ run, span: subject.span, ...judged }];
    const gone: RunOutcome = { kind: 'failed', run, reason: 'the judge was deleted' };
    onEnded({ outcome: subject !== undefined && 'outcome' in subject ? subject.outcome : gone, spans: [] });
    return [];
  });
}
