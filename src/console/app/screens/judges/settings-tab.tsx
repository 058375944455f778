import { RUNNING_TAG } from '../../../../features/prompts/running-version.js';
import { plainText } from '../../../../features/prompts/prompt-messages.js';
import { draftOf, patchOf } from '../../../model/judge-draft.js';
import { KeptNote } from '../../parts/kept-note.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call } from '../../state/api.js';
import { useKeptDraft } from '../../state/kept-draft.js';
import { useQuery } from '../../state/query.js';
import { judgesChanged } from './lists.js';
import { JudgeForm } from './judge-form.js';
import type { JudgeTabProps } from './tab-props.js';

/** The settings of a judge, to be changed. */
export function SettingsTab({ judge }: JudgeTabProps) {
  const instruction = useQuery({
    key: ['/prompts', judge.task_slug, 'running'],
    ask: (signal) => runningText(judge.task_slug, signal),
    keep: false,
  });
  return <Answered answer={instruction}>{(text) => <Editor key={text} judge={judge} text={text} />}</Answered>;
}

/** The text that the judge goes by: the version in production, else the newest. */
async function runningText(slug: string, signal: AbortSignal): Promise<string> {
  const params = { prompt_slug: slug };
  const tags = await call('GET /projects/:project_id/prompts/:prompt_slug/tags', { params, signal });
  const tag = tags.find((entry) => entry.tag === RUNNING_TAG)?.tag;
  const { content, messages = null } = await call('GET /v1/prompts/:prompt_slug', { params, query: { tag }, signal });
  return plainText({ content, messages });
}

function Editor({ judge, text }: JudgeTabProps & { readonly text: string }) {
  const kept = useKeptDraft(`judge.${judge.id}`, draftOf(judge, text));
  const { draft, change, drop } = kept;
  const save = async () => {
    const body = patchOf(draft, text);
    await call('PATCH /projects/:project_id/judges/:judge_id', { params: { judge_id: judge.id }, body });
    drop(draft);
    announce('Settings saved');
    await judgesChanged();
  };
  return (
    <div class="stack">
      <KeptNote kept={kept} />
      <JudgeForm judge={judge} promptBefore={text} draft={draft} onChange={change} action="Save" onSave={save} />
    </div>
  );
}
