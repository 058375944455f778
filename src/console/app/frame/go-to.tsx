import { useEffect, useState } from 'preact/hooks';
import { uuidOf, UUID } from '../../../engine/schema/ids.js';
import { counted } from '../../model/format.js';
import { Dialog } from '../parts/dialog.js';
import { Failure } from '../parts/states.js';
import { Field } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { announce, announceError } from '../state/announce.js';
import { ApiError, call } from '../state/api.js';
import { hrefOf, navigate } from '../state/location.js';
import { useQuery } from '../state/query.js';
import { findNamed, findSessions, type Goal } from './found-by-name.js';
import { offeredScreens } from './screens.js';
import { showTour } from './show-tour.js';

/** Milliseconds without a key pressed before names are looked up. */
const PAUSE_MS = 150;
/** Characters of a name that can be looked up. */
const LONGEST_NAME = 200;

/**
 * Goes to a screen, or to a prompt, judge, dataset, experiment, dashboard, view or session by its name, or to whatever has a pasted
 * id: a trace, a span, a session or an experiment.
 */
export function GoTo({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const asked = text.trim();
  const { found, failure } = useFoundByName(UUID.test(uuidOf(asked)) ? '' : asked);
  const goals = goalsFor(asked, found);
  const at = Math.min(chosen, goals.length - 1);
  const take = (goal: Goal | undefined) => {
    if (goal === undefined) return;
    onClose();
    Promise.resolve(goal.go()).catch(announceError);
  };
  // It may be below what is seen of the list.
  useEffect(() => document.getElementById(`go-to-${at}`)?.scrollIntoView({ block: 'nearest' }), [at]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen(Math.min(goals.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, at - 1));
    else if (event.key === 'Enter') take(goals[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <Field
        label="Name or ID"
        hint="Screens, prompts, judges, datasets, experiments, dashboards, views and sessions, and anything by its ID"
      >
        <input
          class="input"
          role="combobox"
          aria-expanded="true"
          aria-controls="go-to-list"
          aria-activedescendant={`go-to-${at}`}
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
          autofocus
        />
      </Field>
      <ul id="go-to-list" class="goals" role="listbox" aria-label="Results">
        {goals.map((goal, index) => (
          <li
            key={`${index} ${goal.label}`}
            id={`go-to-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => take(goal)}
          >
            <Icon name="right" /> {goal.label}
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {counted(goals.length, 'result')}
      </p>
      {failure !== null && <Failure error={failure} />}
    </Dialog>
  );
}

/** What has the text in its name, once that is known, and what failed. */
function useFoundByName(text: string): { readonly found: readonly Goal[]; readonly failure: Error | null } {
  const [asked, setAsked] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const enabled = asked === text && text !== '' && text.length <= LONGEST_NAME;
  const shared = { enabled, keptMs: 0, keep: false };
  const named = useQuery({
    ...shared,
    key: ['/go-to', 'names', asked],
    ask: (signal) => findNamed(asked, signal),
  });
  const sessions = useQuery({
    ...shared,
    key: ['/go-to', 'sessions', asked],
    ask: (signal) => findSessions(asked, signal),
  });
  if (!enabled) return { found: [], failure: null };
  return { found: [...(named.data ?? []), ...(sessions.data ?? [])], failure: named.error ?? sessions.error };
}

function goalsFor(text: string, found: readonly Goal[]): Goal[] {
  const id = uuidOf(text);
  if (UUID.test(id)) return [{ label: `Object with ID ${id}`, go: () => goToId(id) }];
  const asked = text.toLowerCase();
  const screens = [
    ...offeredScreens().map(({ label, name }) => ({ label, go: () => navigate(hrefOf({ screen: name })) })),
    { label: 'Getting started tour', go: showTour },
  ].filter(({ label }) => label.toLowerCase().includes(asked));
  if (text === '') return screens;
  return [
    ...screens,
    {
      label: `Traces with “${text}” in input, output or error`,
      go: () => navigate(hrefOf({ screen: 'traces', query: { q: text } })),
    },
    // They come later, and must not move what is chosen.
    ...found,
  ];
}

async function goToId(id: string): Promise<void> {
  const [traces, sessions, spans] = await Promise.all([
    call('GET /traces', { query: { id, fields: 'id' } }),
    call('GET /sessions', { query: { id, fields: 'id' } }),
    call('GET /spans', { query: { id, fields: 'id,trace_id', limit: 1 } }),
  ]);
  const [span] = spans;
  if (traces.length > 0) navigate(hrefOf({ screen: 'traces', id }));
  else if (sessions.length > 0) navigate(hrefOf({ screen: 'sessions', id }));
  else if (span !== undefined) navigate(hrefOf({ screen: 'traces', id: span.trace_id, query: { span: id } }));
  else if (await isExperiment(id)) navigate(hrefOf({ screen: 'experiments', id }));
  else announce('No trace, span, session or experiment in this project has this ID', { bad: true });
}

async function isExperiment(id: string): Promise<boolean> {
  try {
    await call('GET /projects/:project_id/experiments/:experiment_id', { params: { experiment_id: id } });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
