import { basename } from 'node:path';
import { sessionNamed } from '../../../src/otlp/session-id.js';
import { idOf } from '../ids.js';
import { countOf, isMembers, membersOf, shortened, textOf, timeOf, type Members } from '../members.js';
import { MARK, type SentSpan } from '../step.js';
import { blocksOf } from './claude-content.js';
import { iso, MAX_ERROR, MAX_NAME, tagsOf, type TranscriptKind, type TranscriptReader } from './reader.js';

const NAME = 'codex';

export const codex: TranscriptKind = {
  mark: NAME,
  folder: ['.codex', 'sessions'],
  reader: (file, context) => new CodexReader(file, context as Context | null),
};

/** What to know of a file where a turn begins. */
interface Context {
  readonly from: number;
  readonly session: string | null;
  readonly name: string | null;
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly version: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  /** All tokens of the session so far, as JSON. */
  readonly total: string | null;
}

const NOTHING_KNOWN: Context = {
  ...{ from: 0, session: null, name: null, cwd: null, branch: null },
  ...{ version: null, provider: null, model: null, total: null },
};

interface Tool {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly startedAt: number;
}

interface Turn {
  readonly traceId: string;
  readonly rootId: string;
  readonly prompt: string | null;
  readonly startedAt: number;
  endedAt: number;
  answer: string | null;
  error: string | null;
  calls: number;
  spans: number;
  /** When the model got what it answers next. */
  since: number;
}

/** What the model said since its last tokens were counted. */
interface Call {
  endedAt: number;
  readonly said: Members[];
}

/** Reads a transcript of Codex: each prompt begins a turn, which is a trace; each count of tokens ends a call of the model. */
class CodexReader implements TranscriptReader {
  readonly images = 0;
  readonly #fileName: string;
  #known: Context;
  /** What is known where the turn under way begins. */
  #place: Context;
  #turn: Turn | null = null;
  #call: Call | null = null;
  readonly #tools = new Map<string, Tool>();

  constructor(file: string, context: Context | null) {
    this.#fileName = basename(file, '.jsonl');
    this.#known = context ?? NOTHING_KNOWN;
    this.#place = this.#known;
  }

  get place() {
    return { from: this.#place.from, context: this.#place };
  }

  line(line: Members, from: number): readonly SentSpan[] {
    const at = timeOf(line['timestamp']);
    const payload = membersOf(line['payload']);
    if (at === null) return [];
    switch (line['type']) {
      case 'session_meta':
        return this.#meta(payload);
      case 'turn_context':
        this.#know({ cwd: textOf(payload['cwd']), model: textOf(payload['model']) });
        return [];
      case 'event_msg':
        return this.#event(payload, from, at);
      case 'response_item':
        return this.#item(payload, from, at);
      default:
        return [];
    }
  }

  end(): readonly SentSpan[] {
    const turn = this.#turn;
    if (turn === null) return [];
    const spans = [...(this.#call === null ? [] : this.#ended({}, turn.endedAt)), ...this.#openTools()];
    this.#turn = null;
    if (turn.spans === 0) return [];
    const { rootId, prompt, startedAt, endedAt, answer, error } = turn;
    const root: SentSpan = {
      ...this.#common(turn, rootId, null, startedAt, endedAt),
      ...{ name: 'Codex', kind: 'agent', input_data: prompt, output_data: answer },
      ...{ status: error === null ? 'ok' : 'error', error_message: error },
    };
    return [...spans, root];
  }

  #openTools(): SentSpan[] {
    const open = [...this.#tools.values()];
    this.#tools.clear();
    return open.flatMap((tool) => this.#toolSpan(tool, null));
  }

  #know(told: Partial<Context>): void {
    const said = Object.entries(told).filter(([, value]) => value !== null);
    this.#known = { ...this.#known, ...Object.fromEntries(said) };
  }

  #meta(payload: Members): readonly SentSpan[] {
    // A forked session repeats what it is a fork of: it stays the session of the file.
    if (this.#known.session !== null) return [];
    this.#know({
      ...{ session: textOf(payload['id']), cwd: textOf(payload['cwd']), version: textOf(payload['cli_version']) },
      ...{ branch: textOf(membersOf(payload['git'])['branch']), provider: textOf(payload['model_provider']) },
    });
    return [];
  }

  #event(payload: Members, from: number, at: number): readonly SentSpan[] {
    const turn = this.#turn;
    if (payload['type'] === 'user_message') return this.#begin(textOf(payload['message']), from, at);
    if (turn === null) return [];
    turn.endedAt = Math.max(turn.endedAt, at);
    if (payload['type'] === 'error') turn.error = shortened(textOf(payload['message']) ?? 'error', MAX_ERROR);
    if (payload['type'] !== 'token_count') return [];
    const info = membersOf(payload['info']);
    const total = isMembers(info['total_token_usage']) ? JSON.stringify(info['total_token_usage']) : null;
    // The limits are told again and again, with the tokens of a call that is known.
    if (total === null || total === this.#known.total) return [];
    const usage = membersOf(info['last_token_usage']);
    this.#know({ total });
    return this.#ended(usage, at);
  }

  #item(payload: Members, from: number, at: number): readonly SentSpan[] {
    const { type, role } = payload;
    if (type === 'message' && role === 'user') {
      const prompt = blocksOf(payload['content'])
        .map((block) => textOf(block['text']) ?? '')
        .join('\n');
      return /^\s*(<|# AGENTS\.md)/.test(prompt) ? [] : this.#begin(prompt, from, at);
    }
    const turn = this.#turn;
    if (turn === null || (type === 'message' && role !== 'assistant')) return [];
    turn.endedAt = Math.max(turn.endedAt, at);
    const id = textOf(payload['call_id']);
    if (typeof type === 'string' && type.endsWith('_output')) {
      const tool = this.#tools.get(id ?? '');
      turn.since = at;
      if (tool === undefined) return [];
      this.#tools.delete(tool.id);
      return this.#toolSpan(tool, { at, output: payload['output'] });
    }
    this.#call ??= { endedAt: at, said: [] };
    this.#call.endedAt = at;
    this.#call.said.push(shownItem(payload));
    if (type === 'message')
      turn.answer = blocksOf(payload['content'])
        .map((block) => textOf(block['text']) ?? '')
        .join('\n');
    if (typeof type !== 'string' || !type.endsWith('_call')) return [];
    const input = payload['arguments'] ?? payload['input'] ?? payload['action'] ?? {};
    const tool: Tool = {
      id: id ?? `${turn.rootId}:${turn.spans}`,
      name: textOf(payload['name']) ?? type.slice(0, -'_call'.length),
      input: typeof input === 'string' ? input : JSON.stringify(input),
      startedAt: at,
    };
    turn.spans += 1;
    // What is done where the model is has no output of its own.
    if (id === null) return this.#toolSpan(tool, { at, output: null });
    this.#tools.set(id, tool);
    return [];
  }

  #begin(prompt: string | null, from: number, at: number): readonly SentSpan[] {
    // A prompt is there twice: as what the model got, and as what the person said.
    if (this.#turn !== null && this.#turn.spans === 0 && this.#turn.prompt === prompt) return [];
    const ended = this.end();
    this.#call = null;
    this.#know({ from, name: this.#known.name ?? (prompt === null ? null : shortened(prompt, MAX_NAME)) });
    this.#place = this.#known;
    const id = [this.#known.session ?? this.#fileName, iso(at), String(from)];
    const [traceId, rootId] = [idOf(NAME, 'trace', ...id), idOf(NAME, 'turn', ...id)];
    this.#turn = {
      ...{ traceId, rootId, prompt, startedAt: at, endedAt: at, answer: null, error: null },
      ...{ calls: 0, spans: 0, since: at },
    };
    return ended;
  }

  /** A call of the model, once its tokens are counted. */
  #ended(usage: Members, at: number): SentSpan[] {
    const [turn, call] = [this.#turn, this.#call];
    this.#call = null;
    if (turn === null) return [];
    turn.calls += 1;
    turn.spans += 1;
    const { model, provider } = this.#known;
    const endedAt = call?.endedAt ?? at;
    const counted = Object.keys(usage).length > 0;
    const isFirst = turn.calls === 1;
    const startedAt = Math.min(turn.since, endedAt);
    turn.since = at;
    return [
      {
        ...this.#common(turn, idOf(turn.rootId, 'call', String(turn.calls)), turn.rootId, startedAt, endedAt),
        ...{ name: model ?? 'model', kind: 'llm', status: 'ok' },
        ...(isFirst && { input_data: turn.prompt }),
        output_data: call === null ? null : outputOf(call.said),
        attributes: {
          ...{ provider: provider ?? 'openai', ...(model !== null && { model }) },
          ...(counted && {
            inputTokens: countOf(usage['input_tokens']),
            outputTokens: countOf(usage['output_tokens']),
            cacheReadTokens: countOf(usage['cached_input_tokens']),
            reasoningTokens: countOf(usage['reasoning_output_tokens']),
          }),
        },
      },
    ];
  }

  #toolSpan(tool: Tool, result: { readonly at: number; readonly output: unknown } | null): SentSpan[] {
    const turn = this.#turn;
    if (turn === null) return [];
    const { id, name, input, startedAt } = tool;
    const output = result?.output;
    const failed = isMembers(output) && output['success'] === false;
    const text = output == null ? null : typeof output === 'string' ? output : JSON.stringify(output);
    return [
      {
        ...this.#common(turn, idOf(turn.rootId, 'tool', id), turn.rootId, startedAt, result?.at ?? null),
        ...{ name, kind: 'tool', input_data: input, output_data: text, attributes: { call_id: id } },
        status: result === null ? 'unset' : failed ? 'error' : 'ok',
        ...(failed && { error_message: shortened(text ?? '', MAX_ERROR) }),
      },
    ];
  }

  #common(turn: Turn, id: string, parent: string | null, startedAt: number, endedAt: number | null) {
    const { session, name, cwd, branch, version } = this.#known;
    const tags = tagsOf({
      ...{ [MARK]: NAME, cwd, project: cwd === null ? null : basename(cwd), git_branch: branch, version },
    });
    return {
      ...{ id, trace_id: turn.traceId, parent_span_id: parent },
      session_id: sessionNamed(session ?? this.#fileName)?.id ?? null,
      session_name: name,
      ...{ started_at: iso(startedAt), ended_at: endedAt === null ? null : iso(endedAt) },
      ...{ tags, trace_tags: tags, session_tags: tags },
    };
  }
}

/** Of calls of tools only which: a span of its own has the rest. What is encrypted nobody reads. */
function shownItem(item: Members): Members {
  const { type, content, summary, name, call_id } = item;
  if (type === 'message')
    return {
      type: 'text',
      text: blocksOf(content)
        .map(({ text }) => textOf(text) ?? '')
        .join('\n'),
    };
  if (type === 'reasoning')
    return {
      type: 'thinking',
      thinking: blocksOf(summary)
        .map(({ text }) => textOf(text) ?? '')
        .join('\n'),
    };
  return { type: 'tool_use', id: call_id, name };
}

function outputOf(said: readonly Members[]): string {
  const isText = said.every(({ type }) => type === 'text');
  if (isText) return said.map(({ text }) => textOf(text) ?? '').join('\n');
  return JSON.stringify([{ role: 'assistant', content: said }]);
}
