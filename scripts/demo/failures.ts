import type { Step } from './trace-builder.js';

export interface Failure {
  readonly error_code: string;
  readonly error_message: string;
  readonly error_stack: string;
  readonly where: 'tool' | 'model';
  /** Whether a second attempt helps. */
  readonly retryable: boolean;
}

export const FAILURES: readonly Failure[] = [
  {
    where: 'tool',
    retryable: true,
    ...raised('TimeoutError', 'orders-api did not answer within 5000 ms', [
      'orders/client.py", line 58, in get_order',
      'agent/tools/orders.py", line 31, in lookup_order',
    ]),
  },
  {
    where: 'tool',
    retryable: true,
    ...raised(
      'HTTPStatusError',
      "Server error '503 Service Unavailable' for url 'https://orders.northwind.internal/v2/orders'",
      ['agent/tools/orders.py", line 31, in lookup_order', 'orders/client.py", line 63, in get_order'],
    ),
  },
  {
    where: 'model',
    retryable: true,
    ...raised(
      'RateLimitError',
      'Error code: 429 - Rate limit reached for requests per minute. Please try again in 2 s.',
      ['agent/assistant.py", line 112, in write_answer', 'agent/llm.py", line 44, in complete'],
    ),
  },
  {
    where: 'tool',
    retryable: false,
    ...raised('PaymentRefused', 'refund refused by the provider: charge is already disputed', [
      'agent/tools/refunds.py", line 26, in start_refund',
      'payments/refunds.py", line 117, in create',
    ]),
  },
];

/** @param frames as Python prints them, the innermost last */
function raised(code: string, message: string, frames: readonly string[]) {
  const lines = frames.map((frame) => `  File "/srv/assistant/${frame}`).join('\n');
  return {
    error_code: code,
    error_message: message,
    error_stack: `Traceback (most recent call last):\n${lines}\n${code}: ${message}`,
  };
}

/** What a step says of a failure. */
export function reason({ error_code, error_message, error_stack }: Failure): Partial<Step> {
  const [, code_filepath, line] = [...error_stack.matchAll(/File "([^"]+)", line (\d+)/g)].at(-1) ?? [];
  const place = code_filepath === undefined ? {} : { code_filepath, code_lineno: Number(line) };
  return { error_code, error_message, error_stack, ...place };
}
