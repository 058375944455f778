import type { Readiness } from '../../../../http/operations/readiness-schema.js';
import type { Capabilities } from '../../../../features/sign-in/http/schema.js';
import { CopyAsCurl } from '../../parts/copy.js';
import { Icon } from '../../parts/icon.js';
import { Answered } from '../../parts/states.js';
import { ApiError, request } from '../../state/api.js';
import { base } from '../../state/location.js';
import { useQuery } from '../../state/query.js';
import { whoami } from '../../state/session.js';

const STATES: Readonly<Record<Readiness['status'], string>> = {
  ready: 'All stores are available',
  degraded: 'All stores are available, but spans are rejected',
  unavailable: 'Requests cannot be served',
};
const EVERY_MS = 10_000;

/** Whether the server serves, and what it can do. */
export default function Health() {
  const answer = useQuery({ key: ['/readyz'], ask: readiness, every: EVERY_MS });
  const me = whoami.value;
  return (
    <div class="stack parts">
      <section class="stack" aria-labelledby="stores">
        <div class="line apart">
          <h2 id="stores">Stores</h2>
          <CopyAsCurl path="/readyz" />
        </div>
        <Answered answer={answer} rows={2}>
          {({ status, checks }) => (
            <>
              <p class={`line ${status === 'ready' ? 'good' : 'bad'}`} role="status">
                <Icon name={status === 'ready' ? 'check' : 'error'} />
                {STATES[status]}
              </p>
              <dl class="pairs">
                {Object.entries(checks).map(([name, outcome]) => (
                  <>
                    <dt>{name}</dt>
                    <dd>{outcome}</dd>
                  </>
                ))}
              </dl>
            </>
          )}
        </Answered>
      </section>
      {me !== null && (
        <section class="stack" aria-labelledby="server">
          <h2 id="server">Server</h2>
          <dl class="pairs">
            <dt>Version</dt>
            <dd>{me.version}</dd>
            {abilities(me.capabilities).map(([what, state]) => (
              <>
                <dt>{what}</dt>
                <dd>{state}</dd>
              </>
            ))}
          </dl>
          <p class="line">
            {me.capabilities.docs && <a href={`${base}/docs`}>Manual</a>}
            <a href={`${base}/openapi.json`}>OpenAPI document</a>
            <a href={`${base}/metrics`}>Metrics</a>
          </p>
        </section>
      )}
    </div>
  );
}

/** A server that is not ready answers 503, with the reasons. */
async function readiness(signal: AbortSignal): Promise<Readiness> {
  try {
    return (await (await request('/readyz', { signal })).json()) as Readiness;
  } catch (error) {
    if (error instanceof ApiError && 'checks' in error.problem) return error.problem as unknown as Readiness;
    throw error;
  }
}

function abilities({ judges, judge_model: model, otlp_grpc: grpc, public_url: url }: Capabilities): [string, string][] {
  return [
    [
      'Judges',
      judges
        ? `run${model === null ? '; no default model' : `, by default with ${model}`}`
        : 'disabled: JUDGE_LLM_BASE_URL is not set',
    ],
    ['OTLP over gRPC', grpc ? 'enabled' : 'disabled'],
    ['PUBLIC_URL', url ? 'set' : 'not set: links and invitations may work only on this machine'],
  ];
}
