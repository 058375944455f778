import { requireOwnHost, type OwnNames } from '../own-host.js';
import { defineRoute } from '../route.js';
import { Readiness } from './readiness-schema.js';

/** One thing the server needs in order to serve. */
export interface ReadinessCheck {
  /** Such as `sqlite`. */
  readonly name: string;
  /** Throws, with a message fit for an operator, when it does not answer. */
  check(): void | Promise<void>;
  /** Asked when the check fails: whether the server can serve anyway, except for some requests. */
  readonly degrades?: () => boolean;
}

const CHECK_TIMEOUT_MS = 2_000;

export function readinessRoute(checks: readonly ReadinessCheck[], names: OwnNames) {
  return defineRoute({
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Check whether the server can serve requests',
    description:
      'Checks every store (ClickHouse at most once a second, for all callers). Returns 503 with the reasons if one ' +
      'does not respond within 2 s. Returns 200 and `degraded` while the server serves only some requests: reads ' +
      'and deletions, if a disk has less space than `MIN_FREE_DISK_MB` keeps free, or writes, which the write-ahead ' +
      'log accepts while the embedded ClickHouse does not respond.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'Every store responds; `degraded`: some requests are refused.', schema: Readiness },
      503: { description: 'At least one store does not respond, and writes are refused.', schema: Readiness },
    },
    errors: ['forbidden'],
    admit: ({ headers }) => requireOwnHost(headers, names),
    async handle() {
      const outcomes = await Promise.all(checks.map(async (check) => ({ check, outcome: await outcomeOf(check) })));
      const failed = outcomes.filter(({ outcome }) => outcome !== 'ok').map(({ check }) => check);
      const ready = failed.every(({ degrades }) => degrades?.() === true);
      const status: Readiness['status'] = !ready ? 'unavailable' : failed.length > 0 ? 'degraded' : 'ready';
      const body = {
        status,
        checks: Object.fromEntries(outcomes.map(({ check, outcome }) => [check.name, outcome])),
      };
      return ready ? { status: 200, body } : { status: 503, body, headers: { 'Retry-After': '1' } };
    },
  });
}

async function outcomeOf(check: ReadinessCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${CHECK_TIMEOUT_MS / 1000} s`)), CHECK_TIMEOUT_MS);
  });
  try {
    await Promise.race([Promise.resolve().then(() => check.check()), timeout]);
    return 'ok';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}
