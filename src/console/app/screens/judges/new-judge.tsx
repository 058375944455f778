import { bodyOf, NEW_DRAFT } from '../../../model/judge-draft.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { KeptNote } from '../../parts/kept-note.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { hrefOf, navigate } from '../../state/location.js';
import { judgesChanged } from './lists.js';
import { JudgeForm } from './judge-form.js';

/** Where a judge is made, with what it would do beside. */
export function NewJudge() {
  const kept = useKeptDraft('judge', NEW_DRAFT);
  const { draft, change, drop } = kept;
  const make = async () => {
    const judge = await call('POST /projects/:project_id/judges', { body: bodyOf(draft) });
    drop();
    announce(`Judge ${judge.name} created`);
    navigate(hrefOf({ screen: 'judges', id: judge.id, query: { tab: 'queue' } }), { replace: true });
    await judgesChanged();
  };
  return (
    <div class="stack">
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="judges" label="Judges" name="New judge" />
        </div>
      </header>
      <KeptNote kept={kept} />
      <JudgeForm judge={null} promptBefore="" draft={draft} onChange={change} action="Create judge" onSave={make} />
    </div>
  );
}
