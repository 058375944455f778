import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Deletion } from '../../src/features/deletion/deletion-store.js';
import type { FeedbackContent } from '../../src/features/feedback/feedback.js';
import { SqliteDeletionStore } from '../../src/features/deletion/store/deletion-store.js';
import { SqliteRunStore } from '../../src/features/judges/store/run-store.js';
import { PASSED } from '../judges/fixture.js';
import { JUDGE, JudgeFile, judgeRow } from './judge-file.js';

const MAX = Number.MAX_SAFE_INTEGER;
const OTHER = 'other judge';

describe('the correction that feedback about a verdict is', () => {
  let file: JudgeFile;
  let store: JudgeFile['store'];

  beforeEach(() => {
    file = new JudgeFile();
    store = file.store;
  });
  afterEach(() => {
    file.dispose();
  });

  const all = (judgeId = JUDGE) => store.between(judgeId, 0, MAX);
  const examples = (judgeId = JUDGE) => store.examples(judgeId, 0, 100);
  const revisions = (judgeId = JUDGE) => [store.revision(judgeId), store.lastRemoval(judgeId)];
  const evaluations = () => store.versions(JUDGE).map(({ judge_version, evaluations }) => [judge_version, evaluations]);

  describe('saved', () => {
    it('holds all that was said, and when', () => {
      file.evaluate('a', true, 'pv1/none');
      const said: Partial<FeedbackContent> = {
        reason: 'r',
        expected_output: 'o',
        expected_score: 3,
        score_direction: 'too_high',
        criteria_feedback: { tone: { expected_score: 1, reason: null } },
      };
      const { updated_at } = file.say('a', false, 'bob', said);
      expect(examples()).to.have.length(1);
      expect(examples()[0]).to.deep.include({
        span_id: 'a',
        revision: 1,
        given_at: updated_at,
        thumbs_up: false,
        ...said,
      });
      expect(all()[0]).to.deep.include({ user_id: 'bob', known_since: 1 });
    });

    it('is there for a judge alone, not for feedback on the completion', () => {
      file.evaluate('a', true, 'pv1/none');
      for (const thumbs of [true, false]) file.say('a', thumbs, 'ann', { judge_id: null });
      expect(all()).to.deep.equal([]);
      expect(revisions()).to.deep.equal([0, 0]);
    });

    const changes: Partial<FeedbackContent>[] = [
      { thumbs_up: true },
      { reason: 'r' },
      { expected_output: 'o' },
      { expected_score: 3 },
      { score_direction: 'too_low' },
      { criteria_feedback: { tone: { expected_score: null, reason: 'r' } } },
    ];
    for (const change of changes)
      it(`is replaced when ${Object.keys(change).join()} changes, there and back`, () => {
        file.evaluate('a', true, 'pv1/none');
        file.say('a', false);
        const { updated_at } = file.say('a', false, 'ann', change);
        expect(examples()).to.have.length(1);
        expect(examples()[0]).to.deep.include({ revision: 2, given_at: updated_at, ...change });
        file.say('a', false);
        expect(examples()[0]).to.deep.include({ revision: 3, thumbs_up: false, criteria_feedback: null });
        expect(revisions()).to.deep.equal([3, 0]);
      });

    it('stays as it is, its time too, when nothing of it changes', () => {
      file.evaluate('a', true, 'pv1/none');
      const said = { reason: 'r', criteria_feedback: { tone: { expected_score: 1, reason: null } } };
      const first = file.say('a', false, 'ann', said);
      const again = file.say('a', false, 'ann', { ...said, metadata: { more: 1 } });
      expect([again.id, again.created_at]).to.deep.equal([first.id, first.created_at]);
      expect(again.updated_at).to.be.greaterThan(first.updated_at);
      expect(examples()).to.have.length(1);
      expect(examples()[0]).to.include({ revision: 1, given_at: first.updated_at });
      expect(revisions()).to.deep.equal([1, 0]);
    });

    it('is never younger than what it replaces, although the clock went back', () => {
      file.evaluate('a', true, 'pv1/none');
      const { updated_at } = file.say('a', false);
      file.say('a', true, 'ann', { at: updated_at - 1_000 });
      expect(examples()[0]).to.include({ revision: 2, thumbs_up: true, given_at: updated_at });
    });

    it('is of the evaluation that was stored last, by that judge of that span in that project', () => {
      file.database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('elsewhere', 'p', 0);
        ${judgeRow(OTHER, 'project')}`);
      file.evaluate('a', true, 'pv1/none', { created_at: 9 });
      file.evaluate('a', true, 'pv1/e1');
      file.evaluate('a', true, 'pv2/e1', { judge_id: OTHER });
      file.evaluate('b', true, 'pv2/none');
      file.evaluate('a', true, 'pv2/e2', { project_id: 'elsewhere' });
      file.say('a', false);
      expect(all().map(({ evaluation }) => evaluation?.judge_version)).to.deep.equal(['pv1/e1']);
    });

    it('makes a revision of its own judge alone', () => {
      file.database.exec(judgeRow(OTHER, 'project'));
      for (const judge_id of [JUDGE, OTHER]) file.evaluate('a', true, 'pv1/none', { judge_id });
      file.say('a', false);
      file.say('a', true);
      file.say('a', false, 'ann', { judge_id: OTHER });
      expect([revisions(), revisions(OTHER)]).to.deep.equal([
        [2, 0],
        [1, 0],
      ]);
    });
  });

  describe('saved before there is an evaluation', () => {
    it('is no example, and is replaced without a revision', () => {
      file.say('a', false);
      const { updated_at } = file.say('a', true);
      file.say('a', true);
      expect(all()).to.have.length(1);
      expect(all()[0]).to.include({ thumbs_up: true, given_at: updated_at, evaluation: null, known_since: null });
      expect(examples()).to.deep.equal([]);
      expect(revisions()).to.deep.equal([0, 0]);
    });

    it('is of the evaluation once it is said again, which removes nothing', () => {
      file.say('a', false);
      file.evaluate('a', true, 'pv1/none');
      expect(all()[0]).to.include({ evaluation: null });
      const { updated_at } = file.say('a', false);
      expect(all()).to.have.length(1);
      expect(examples()[0]).to.include({ revision: 1, given_at: updated_at });
      expect(revisions()).to.deep.equal([1, 0]);
    });

    it('takes no revision that others have made', () => {
      file.evaluate('a', true, 'pv1/none');
      file.say('a', false);
      file.say('b', false);
      file.say('b', true);
      expect(revisions()).to.deep.equal([1, 0]);
    });
  });

  describe('of spans that are deleted', () => {
    let deletions: SqliteDeletionStore;
    beforeEach(() => {
      deletions = new SqliteDeletionStore(file.database);
    });

    function order() {
      const target = { projectId: 'project', kind: 'trace', id: randomUUID() } as const;
      // Whatever the clock says: what came before the order is known by numbers.
      return deletions.begin({ ...target, upTo: 0, at: 0 }, [], true);
    }

    const remove = (spans: readonly string[], { ordered = order(), stays = false } = {}) =>
      deletions.removeSpans(
        ordered,
        spans.map((id) => ({ id, stays })),
      );

    it('goes, and each that was of an evaluation is counted as a revision, the last one too', () => {
      for (const span of ['a', 'b', 'c']) file.evaluate(span, true, 'pv1/none');
      for (const span of ['a', 'b', 'c', 'unjudged']) file.say(span, false);
      file.say('a', false, 'bob');
      file.evaluate('a', true, 'pv1/e4');
      file.say('a', false); // now of two evaluations
      expect(revisions()).to.deep.equal([5, 0]);
      expect(remove(['a', 'b', 'unjudged']).judges).to.deep.equal([JUDGE]);
      expect(all().map(({ span_id }) => span_id)).to.deep.equal(['c']);
      expect(revisions()).to.deep.equal([9, 9]);
      expect(evaluations()).to.deep.equal([
        ['pv1/none', 1],
        ['pv1/e4', 0],
      ]);
    });

    it('counts nothing when it was of no evaluation', () => {
      file.evaluate('b', true, 'pv1/none');
      file.say('a', false);
      file.say('b', false);
      remove(['a', 'never seen']);
      expect(revisions()).to.deep.equal([1, 0]);
      expect(all()).to.have.length(1);
    });

    it('is never followed by one of a revision that was there before', () => {
      for (const span of ['a', 'b']) {
        file.evaluate(span, true, 'pv1/none');
        file.say(span, false);
      }
      remove(['b']);
      file.say('a', true);
      expect(examples().map(({ revision }) => revision)).to.deep.equal([4]);
      expect(revisions()).to.deep.equal([4, 3]);
    });

    it('goes with the evaluation when the feedback stays, and is then of none until it is said again', () => {
      file.evaluate('a', true, 'pv1/none');
      const ordered = order();
      file.say('a', false); // after the order
      remove(['a'], { ordered });
      expect([all(), revisions(), evaluations()]).to.deep.equal([[], [2, 2], [['pv1/none', 0]]]);
      file.say('a', false);
      expect(all()).to.have.length(1);
      expect(all()[0]).to.include({ evaluation: null });
      expect(revisions()).to.deep.equal([2, 2]);
    });

    it('goes with the feedback when the evaluation, made elsewhere after the order, stays', () => {
      file.say('a', false);
      file.evaluate('a', true, 'pv1/none');
      file.say('a', false);
      const ordered = order();
      file.evaluate('a', false, 'pv1/e1', { origin: 'external' });
      remove(['a'], { ordered });
      expect([all(), revisions()]).to.deep.equal([[], [2, 2]]);
      expect(evaluations()).to.deep.equal([
        ['pv1/none', 0],
        ['pv1/e1', 1],
      ]);
    });

    it('stays when it is of an evaluation of the span that was sent again, and goes when of one before', () => {
      file.evaluate('a', true, 'pv1/none');
      file.say('a', false);
      const ordered = order();
      file.evaluate('a', false, 'pv1/e1');
      file.say('a', true);
      remove(['a'], { ordered, stays: true });
      expect(all().map(({ evaluation }) => evaluation?.judge_version)).to.deep.equal(['pv1/e1']);
      expect(revisions()).to.deep.equal([3, 3]);
      file.say('a', false);
      expect(examples().map(({ revision, thumbs_up }) => [revision, thumbs_up])).to.deep.equal([[4, false]]);
    });

    it('goes of all judges, each with revisions of its own', () => {
      file.database.exec(judgeRow(OTHER, 'project'));
      for (const judge_id of [JUDGE, OTHER])
        for (const span of ['a', 'b']) {
          file.evaluate(span, true, 'pv1/none', { judge_id });
          file.say(span, false, 'ann', { judge_id });
        }
      remove(['a']);
      expect([revisions(), revisions(OTHER)]).to.deep.equal([
        [3, 3],
        [3, 3],
      ]);
    });

    it('goes with its project, and not with another', () => {
      file.database.exec(`INSERT INTO projects (id, name, created_at) VALUES ('elsewhere', 'p', 0);
        INSERT INTO prompts (id, project_id, slug, created_at) VALUES ('prompt 2', 'elsewhere', 'task', 0);
        ${judgeRow(OTHER, 'elsewhere')}`);
      const there = { project_id: 'elsewhere', judge_id: OTHER };
      for (const span of ['a', 'b']) {
        file.evaluate(span, true, 'pv1/none');
        file.say(span, false);
        file.evaluate(span, true, 'pv1/none', there);
        file.say(span, false, 'ann', { ...there, prompt_id: 'prompt 2' });
      }
      const deletion = deletions.orderProject('elsewhere', (file.at += 1)) as Deletion;
      const seen: number[][] = [];
      while (deletions.removeSomeOfProject(deletion)) if (examples(OTHER).length === 0) seen.push(revisions(OTHER));
      expect(seen[0]).to.deep.equal([4, 4]);
      expect([all(OTHER), revisions(OTHER), store.versions(OTHER)]).to.deep.equal([[], [0, 0], []]);
      expect([all().length, revisions(), evaluations()]).to.deep.equal([2, [2, 0], [['pv1/none', 2]]]);
    });
  });

  it('is stored together with the feedback, or neither is', () => {
    file.evaluate('a', true, 'pv1/none');
    file.say('a', false);
    file.database.exec(
      `CREATE TEMP TRIGGER full BEFORE UPDATE ON correction_sets BEGIN SELECT raise(ABORT, 'full'); END`,
    );
    expect(() => file.say('a', true)).to.throw('full');
    const stored = file.database.prepare('SELECT thumbs_up FROM feedback WHERE judge_id = ?').pluck().all(JUDGE);
    expect(stored).to.deep.equal([0]);
    expect([examples().map(({ thumbs_up }) => thumbs_up), revisions()]).to.deep.equal([[false], [1, 0]]);
  });

  it('finds how many evaluations were made with each version, whoever made them', () => {
    const runs = new SqliteRunStore(file.database);
    const place = { span_id: 'a', trace_id: 't', span_started_at: 0 };
    const draft = { ...place, id: randomUUID(), project_id: 'project', judge_id: JUDGE, origin: 'automatic' } as const;
    runs.enqueue([draft], (file.at += 1));
    const [run] = runs.due('project', MAX, 1);
    if (run === undefined) throw new Error('The run was not queued');
    const { id, project_id, judge_id, span_id, origin } = run;
    const evaluation = { ...PASSED, id, project_id, judge_id, span_id, origin, judge_version: 'pv1/none' };
    const outcome = { kind: 'evaluated', run, evaluation: { ...evaluation, prompt_version_id: 'pv1' } } as const;
    const [stored] = runs.settle([outcome], (file.at += 1));
    file.evaluate('a', true, 'pv1/none');
    file.evaluate('a', true, null);
    file.evaluate('a', true, 'pv2/e1');
    expect(store.versions(JUDGE)).to.deep.equal([
      { judge_version: 'pv1/none', prompt_version: 1, began_at: stored?.created_at, evaluations: 2 },
      { judge_version: 'pv2/e1', prompt_version: 2, began_at: file.at, evaluations: 1 },
    ]);
  });
});
