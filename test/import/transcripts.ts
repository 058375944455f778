/* Transcripts as programs write them. */

const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const at = (second: number) => new Date(Date.UTC(2026, 8, 1, 12, 0, second)).toISOString();

export const MODEL = 'claude-sonnet-4-5-20250929';

interface Session {
  readonly id: string;
  readonly turns: number;
  /** What ids of its lines and messages begin with. */
  readonly prefix?: string;
}

/** A session of Claude Code in which each turn is a prompt, a call of a tool and an answer: 4 spans. */
export function claudeCodeSession({ id, turns, prefix = id.slice(0, 8) }: Session): string {
  const common = { sessionId: id, cwd: '/home/ada/shop', gitBranch: 'main', version: '2.1.0', isSidechain: false };
  return lines(
    Array.from({ length: turns }, (_, turn) => {
      const name = `${prefix}-${turn}`;
      const user = (second: number, content: unknown, more: object = {}) => ({
        ...{ ...common, type: 'user', uuid: `${name}-u${second}`, timestamp: at(turn * 10 + second) },
        ...{ message: { role: 'user', content }, ...more },
      });
      const assistant = (second: number, message: string, block: object, usage: object) => ({
        ...{ ...common, type: 'assistant', uuid: `${name}-a${second}`, timestamp: at(turn * 10 + second) },
        requestId: `req_${name}_${message}`,
        message: { id: `msg_${name}_${message}`, role: 'assistant', model: MODEL, content: [block], usage },
      });
      const usage = { input_tokens: 10, cache_creation_input_tokens: 1000, cache_read_input_tokens: 5000 };
      return [
        user(0, `Fix the test of ${name}`),
        // One message in two lines, each of which repeats its usage; the first does not know all of its output.
        assistant(1, 'one', { type: 'text', text: 'I look.' }, { ...usage, output_tokens: 3 }),
        assistant(
          2,
          'one',
          { type: 'tool_use', id: `toolu_${name}`, name: 'Bash', input: { command: 'ls' } },
          { ...usage, output_tokens: 200 },
        ),
        user(4, [{ type: 'tool_result', tool_use_id: `toolu_${name}`, content: 'a.ts\nb.ts' }], { toolUseResult: {} }),
        assistant(6, 'two', { type: 'text', text: 'Done.' }, { ...usage, output_tokens: 100 }),
      ];
    }).flat(),
  );
}

export const SPANS_OF_TURN = 4;
/** Input tokens, output tokens of a turn. */
export const [INPUT, OUTPUT] = [2 * 6010, 300];

/** A session of Codex of one turn: a call that calls a tool, and one that answers, of which the tokens are told twice: 4 spans. */
export function codexSession(id: string): string {
  const line = (second: number, type: string, payload: object) => ({ timestamp: at(second), type, payload });
  const tokens = (input: number, cached: number, output: number) => ({
    ...{ input_tokens: input, cached_input_tokens: cached, output_tokens: output },
    ...{ reasoning_output_tokens: 5, total_tokens: input + output },
  });
  const count = (second: number, total: object, last: object) =>
    line(second, 'event_msg', { type: 'token_count', info: { total_token_usage: total, last_token_usage: last } });
  const prompt = 'List the files';
  return lines([
    line(0, 'session_meta', {
      id,
      cwd: '/home/ada/shop',
      cli_version: '0.80.0',
      git: { branch: 'dev' },
      model_provider: 'openai',
    }),
    line(0, 'response_item', {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '<environment_context/>' }],
    }),
    line(1, 'response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }),
    line(1, 'event_msg', { type: 'user_message', message: prompt }),
    line(1, 'turn_context', { cwd: '/home/ada/shop', model: 'gpt-5' }),
    line(3, 'response_item', {
      type: 'function_call',
      name: 'shell',
      arguments: '{"command":["ls"]}',
      call_id: 'call_1',
    }),
    count(3, tokens(1000, 0, 50), tokens(1000, 0, 50)),
    line(4, 'response_item', { type: 'function_call_output', call_id: 'call_1', output: 'a.ts' }),
    line(6, 'response_item', {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'There is a.ts.' }],
    }),
    count(6, tokens(2100, 1000, 70), tokens(1100, 1000, 20)),
    count(7, tokens(2100, 1000, 70), tokens(1100, 1000, 20)),
  ]);
}
