import { useState } from 'preact/hooks';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Confirm } from '../../parts/dialog.js';
import { HeadingBelow } from '../../parts/heading-below.js';
import { Icon } from '../../parts/icon.js';
import { Answered, Failure } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { useAction } from '../../state/action.js';
import { announce, announceError } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { leaveDeleted } from '../../state/deleted.js';
import { hrefOf, navigate, place } from '../../state/location.js';
import { AgreementTab } from './agreement-tab.js';
import { VerdictReview } from '../review/verdict-review.js';
import { ofJudge, useJudge } from './data.js';
import { judgesChanged } from './lists.js';
import { EvaluationsTab } from './evaluations-tab.js';
import { JudgeState } from './judge-list.js';
import { QueueTab } from './queue-tab.js';
import { RunDialog } from './run-dialog.js';
import { SettingsTab } from './settings-tab.js';
import { TrialsTab } from './trials-tab.js';
import type { JudgeTabProps } from './tab-props.js';

const TABS = [
  { name: 'agreement', label: 'Agreement', Tab: AgreementTab },
  { name: 'correct', label: 'Corrections', Tab: VerdictReview },
  { name: 'evaluations', label: 'Evaluations', Tab: EvaluationsTab },
  { name: 'queue', label: 'Queue', Tab: QueueTab },
  { name: 'trials', label: 'Trials', Tab: TrialsTab },
  { name: 'settings', label: 'Settings', Tab: SettingsTab },
] as const;

/** One judge: how far it agrees with people, what it found, what waits, and its settings. */
export function JudgeScreen({ id }: { readonly id: string }) {
  return (
    <div class="stack">
      <Answered answer={useJudge(id)} isPage>
        {(judge) => <Shown judge={judge} />}
      </Answered>
    </div>
  );
}

function Shown({ judge }: JudgeTabProps) {
  const { name, Tab } = TABS.find((tab) => tab.name === place.value.query.get('tab')) ?? TABS[0];
  return (
    <div class="stack">
      <header class="screen-head">
        <div class="line">
          <HeadingBelow screen="judges" label="Judges" name={judge.name} />
          <CopyButton text={judge.id} what="Judge ID" />
          <JudgeState judge={judge} />
        </div>
        <Actions judge={judge} />
      </header>
      {!judge.runnable && (
        <p class="line">
          <Icon name="warning" /> This judge cannot run. {judge.not_runnable_reason}.
        </p>
      )}
      <p class="soft">
        Instruction:{' '}
        <a href={hrefOf({ screen: 'prompts', id: judge.task_slug })}>
          <bdi>{judge.task_slug}</bdi>
        </a>
      </p>
      <Tabs
        label="Judge sections"
        tabs={TABS}
        chosen={name}
        onChoose={(tab) => navigate(hrefOf({ screen: 'judges', id: judge.id, query: { tab } }))}
      >
        <Tab judge={judge} />
      </Tabs>
    </div>
  );
}

function Actions({ judge }: JudgeTabProps) {
  const [open, setOpen] = useState<'run' | 'delete' | null>(null);
  const [busy, setBusy] = useState(false);
  const { id, enabled, name } = judge;
  const toggle = async () => {
    setBusy(true);
    try {
      await call('PATCH /projects/:project_id/judges/:judge_id', {
        params: { judge_id: id },
        body: { enabled: !enabled },
      });
      announce(enabled ? `${name} disabled; automatic evaluations in its queue were canceled` : `${name} enabled`);
      await judgesChanged();
    } catch (error) {
      announceError(error);
    }
    setBusy(false);
  };
  return (
    <div class="line">
      <CopyAsCurl path={ofJudge(id)} />
      <Button icon={enabled ? 'pause' : 'play'} changes busy={busy} onClick={() => void toggle()}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      <Button icon="refresh" changes onClick={() => setOpen('run')}>
        Run…
      </Button>
      <Button icon="trash" look="quiet" changes onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'run' && <RunDialog judge={judge} onClose={() => setOpen(null)} />}
      {open === 'delete' && <DeleteDialog judge={judge} onClose={() => setOpen(null)} />}
    </div>
  );
}

function DeleteDialog({ judge, onClose }: JudgeTabProps & { readonly onClose: () => void }) {
  const { busy, failure, run } = useAction();
  const remove = () =>
    run(async () => {
      await call('DELETE /projects/:project_id/judges/:judge_id', { params: { judge_id: judge.id } });
      announce(`Judge ${judge.name} deleted`);
      await leaveDeleted({ id: judge.id, to: { screen: 'judges' }, changed: ['/judges'] });
    });
  return (
    <Confirm title="Delete this judge?" action="Delete judge" busy={busy} onConfirm={remove} onClose={onClose}>
      <p>
        <bdi>{judge.name}</bdi> stops evaluating, and its queue is canceled. Its evaluations and its prompt{' '}
        <bdi>{judge.task_slug}</bdi> are kept. This cannot be undone.
      </p>
      {failure !== null && <Failure error={failure} />}
    </Confirm>
  );
}
