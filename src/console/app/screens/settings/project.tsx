import { useState } from 'preact/hooks';
import type { ProjectRead } from '../../../../features/projects/http/schema.js';
import { Button } from '../../parts/button.js';
import { CopyAsCurl, CopyButton } from '../../parts/copy.js';
import { Field } from '../../parts/field.js';
import { When } from '../../parts/figures.js';
import { Form } from '../../parts/form.js';
import { Answered } from '../../parts/states.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt, useQuery } from '../../state/query.js';
import { loadWhoAmI } from '../../state/session.js';
import { Lazy } from '../../parts/lazy.js';
import { DeleteProject } from './delete-project.js';
import { Deletions } from './deletions.js';
import { NewProject } from './new-project.js';
import { Retention } from './retention.js';
import { Storage } from './storage.js';

const sharing = () => import('../sharing/index.js').then(({ SharingSettings }) => SharingSettings);

/** The project: its name, what it stores and for how long, and its end. */
export default function Project() {
  const [deleting, setDeleting] = useState(false);
  const [creating, setCreating] = useState(false);
  const path = ofProject('');
  const answer = useQuery({ key: [path], ask: (signal) => call('GET /projects/:project_id', { signal }), keep: false });
  return (
    <div class="stack parts">
      <Answered answer={answer} rows={3}>
        {(project) => (
          <section class="stack" aria-labelledby="project">
            <div class="line apart">
              <h2 id="project">Name</h2>
              <div class="line">
                <CopyAsCurl path={path} />
                <Button icon="plus" changes onClick={() => setCreating(true)}>
                  New project
                </Button>
              </div>
            </div>
            <Rename key={project.name} project={project} />
            <p class="line soft">
              <span class="line whole">
                ID <code>{project.id}</code> <CopyButton text={project.id} what="Project ID" />
              </span>
              <span>
                created <When at={project.created_at} />
              </span>
            </p>
          </section>
        )}
      </Answered>
      {answer.data !== undefined && <Retention key={String(answer.data.retention_days)} project={answer.data} />}
      <Storage />
      <Deletions />
      <Lazy load={sharing} props={{}} />
      <section class="stack" aria-labelledby="end">
        <h2 id="end">Danger zone</h2>
        <p class="soft">Permanently deletes everything in this project.</p>
        <div>
          <Button look="danger" icon="trash" changes onClick={() => setDeleting(true)}>
            Delete project
          </Button>
        </div>
      </section>
      {creating && <NewProject onClose={() => setCreating(false)} />}
      {deleting && answer.data !== undefined && (
        <DeleteProject name={answer.data.name} onClose={() => setDeleting(false)} />
      )}
    </div>
  );
}

function Rename({ project }: { readonly project: ProjectRead }) {
  const [name, setName] = useState(project.name);
  const send = async () => {
    await call('PATCH /projects/:project_id', { body: { name } });
    await Promise.all([changedAt(ofProject('')), loadWhoAmI()]);
    announce('Project renamed');
    document.getElementById('main')?.focus({ preventScroll: true });
  };
  const refused = name.trim() === '' ? 'Enter a name' : name === project.name ? 'Name is unchanged' : null;
  return (
    <Form action="Rename project" refused={refused} onSend={send}>
      <Field label="Project name">
        <input
          class="input"
          required
          maxLength={200}
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </Field>
    </Form>
  );
}
