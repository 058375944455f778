import { defineRoute, type Route } from '../../route.js';
import { Readiness } from './readiness-schema.js';

/** One thing the server needs in order to serve. */
export interface ReadinessCheck {
  /** Such as `sqlite`. */
  readonly name: string;
  /** Throws, with a message fit for an operator, when it does not answer. */
  check(): void | Promise<void>;
}

const CHECK_TIMEOUT_MS = 2_000;

export function readinessRoute(checks: readonly ReadinessCheck[]): Route {
  return defineRoute({
    method: 'GET',
    path: '/readyz',
    operationId: 'getReadiness',
    summary: 'Can requests be served?',
    description: 'Asks every store; 503 with the reasons when one does not answer within 2 s.',
    tag: 'Operations',
    access: 'public',
    responses: {
      200: { description: 'Every store answers.', schema: Readiness },
      503: { description: 'At least one store does not answer.', schema: Readiness },
    },
    errors: [],
    async handle() {
      const outcomes = await Promise.all(checks.map(async (check) => [check.name, await outcomeOf(check)] as const));
      const ready = outcomes.every(([, outcome]) => outcome === 'ok');
      const body = { status: ready ? 'ready' : 'unavailable', checks: Object.fromEntries(outcomes) };
      return ready ? { status: 200, body } : { status: 503, body, headers: { 'Retry-After': '1' } };
    },
  });
}

async function outcomeOf(check: ReadinessCheck): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`)), CHECK_TIMEOUT_MS);
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
