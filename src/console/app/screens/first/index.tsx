import { useEffect, useRef, useState } from 'preact/hooks';
import { SNIPPETS } from '../../../../http/manual/snippets.js';
import { Button } from '../../parts/button.js';
import { Code } from '../../parts/code.js';
import { CopyButton } from '../../parts/copy.js';
import { DemoCommand } from '../../parts/demo-command.js';
import { Icon } from '../../parts/icon.js';
import { Failure } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { useAction } from '../../state/action.js';
import { announce } from '../../state/announce.js';
import { call, request } from '../../state/api.js';
import { base, hrefOf, navigate, place, setQuery } from '../../state/location.js';
import { changedAt, useQuery } from '../../state/query.js';

/** From nothing to a first trace: a key, a program that sends, and the trace as soon as it is there. */
export default function FirstTrace() {
  const [key, setKey] = useState<string | null>(null);
  const { busy, failure, run } = useAction();
  const step = useRef<HTMLLIElement>(null);
  // The button that made it is gone.
  useEffect(() => {
    if (key !== null) step.current?.querySelector('button')?.focus();
  }, [key]);
  const make = () =>
    run(async () => {
      const made = await call('POST /projects/:project_id/api-keys', {
        body: { name: 'First trace', access: 'ingest' },
      });
      setKey(made.key);
      announce('Ingest key created. Copy it from the program below now; it won’t be shown again.');
    });
  const chosen = SNIPPETS.find(({ name }) => name === place.value.query.get('with')) ?? SNIPPETS[0];
  if (chosen === undefined) return null;
  const code = chosen.code({ url: window.location.origin + base, key: key ?? '<your key>' });
  return (
    <div class="stack first">
      <header class="screen-head">
        <h1>Send your first trace</h1>
        <Waiting />
      </header>
      <ol class="stack steps">
        <li ref={step} class="stack">
          <h2>1. Create an ingest key</h2>
          {failure !== null && <Failure error={failure} />}
          {key === null ? (
            <div class="line">
              <Button look="main" icon="key" busy={busy} changes onClick={make}>
                Create key
              </Button>
              <span class="soft">It can send spans but not read data. Or use an existing key.</span>
            </div>
          ) : (
            <p class="line">
              <span class="line whole">
                <code>{key}</code>
                <CopyButton text={key} what="Key" />
              </span>
              <span class="soft">Copy it now; it won’t be shown again.</span>
            </p>
          )}
        </li>
        <li class="stack">
          <h2>2. Send a trace</h2>
          <Tabs
            label="Ways to send"
            tabs={SNIPPETS}
            chosen={chosen.name}
            onChoose={(name) => setQuery({ with: name }, { replace: true })}
          >
            {chosen.install !== null && <Code text={chosen.install} what="Command" />}
            <p class="soft">In {chosen.file}:</p>
            <Code text={code} what="Program" />
          </Tabs>
          <p class="soft">
            More frameworks and languages: <a href={`${base}/docs/opentelemetry`}>OpenTelemetry documentation</a>.
          </p>
        </li>
        <li class="stack">
          <h2>3. Or explore demo data</h2>
          <DemoCommand />
        </li>
      </ol>
    </div>
  );
}

/** Opens the first trace that arrives while this is shown, within a second. */
function Waiting() {
  const since = useRef<string | null>(null);
  // Who comes back waits again.
  const [visit] = useState(() => performance.now());
  const answer = useQuery({
    key: ['/spans', 'first', visit],
    async ask(signal) {
      since.current ??= await serverTime(signal);
      const query = { created_after: since.current, sort_order: 'asc', limit: 1, fields: 'id,trace_id' };
      return call('GET /spans', { query, signal });
    },
    every: 800,
  });
  const span = answer.data?.[0];
  useEffect(() => {
    if (span === undefined) return;
    announce('First span received');
    // What was empty before is not anymore.
    void changedAt();
    navigate(hrefOf({ screen: 'traces', id: span.trace_id }));
  }, [span]);
  if (answer.error !== null) return <Failure error={answer.error} retry={() => void answer.refetch()} />;
  return (
    <p class="waiting" role="status">
      <Icon name="running" /> Waiting for your first span
    </p>
  );
}

/** The clock of the browser may say anything. */
async function serverTime(signal: AbortSignal): Promise<string> {
  const { headers } = await request('/whoami', { signal });
  return new Date(headers.get('date') ?? Date.now()).toISOString();
}
