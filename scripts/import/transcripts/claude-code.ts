import { basename } from 'node:path';
import { sessionNamed } from '../../../src/otlp/session-id.js';
import { idOf } from '../ids.js';
import { membersOf, shortened, textOf, timeOf, type Members } from '../members.js';
import { MARK, type SentSpan } from '../step.js';
import { blocksOf, contentText } from './claude-content.js';
import { Message } from './claude-message.js';
import { iso, MAX_ERROR, MAX_NAME, tagsOf, type TranscriptKind, type TranscriptReader } from './reader.js';

const NAME = 'claude-code';

export const claudeCode: TranscriptKind = {
  mark: NAME,
  folder: ['.claude', 'projects'],
  reader: (file, context) => new ClaudeCodeReader(file, context as Context | null),
};

/** What to know of a file beyond the turn that is read. */
interface Context {
  readonly from: number;
  /** What its session is called: how the first prompt begins. */
  readonly name: string | null;
}

/** A line of messages that follow each other: that of the person, or that of a subagent. */
interface Chain {
  /** Span that its calls are below. */
  readonly parent: string;
  /** When the model got what it answers. */
  since: number;
}

interface Agent extends Chain {
  readonly below: string;
  readonly startedAt: number;
  endedAt: number;
  readonly prompt: string;
}

interface Tool {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  readonly parent: string;
  readonly startedAt: number;
}

interface Turn {
  readonly from: number;
  readonly traceId: string;
  readonly rootId: string;
  readonly prompt: string | null;
  readonly startedAt: number;
  endedAt: number;
  answer: string | null;
  error: string | null;
  spans: number;
}

/** Messages whose lines may still come, beside those of others. */
const MAX_OPEN = 16;
const MAX_LINKS = 100_000;

/** Reads a transcript of Claude Code: each prompt of the person begins a turn, which is a trace. */
class ClaudeCodeReader implements TranscriptReader {
  readonly #isAgentFile: boolean;
  readonly #fileName: string;
  #name: string | null;
  #turn: Turn | null = null;
  #from: number;
  #line: Members = {};
  #main: Chain = { parent: '', since: 0 };
  readonly #agents = new Map<string, Agent>();
  /** Lines of subagents, by which later ones are found to be theirs. */
  readonly #agentOf = new Map<string, string>();
  readonly #messages = new Map<string, Message>();
  readonly #tools = new Map<string, Tool>();
  images = 0;

  constructor(file: string, context: Context | null) {
    this.#fileName = basename(file, '.jsonl');
    this.#isAgentFile = this.#fileName.startsWith('agent-');
    this.#from = context?.from ?? 0;
    this.#name = context?.name ?? null;
  }

  get place() {
    return { from: this.#from, context: { from: this.#from, name: this.#name } satisfies Context };
  }

  line(line: Members, from: number): readonly SentSpan[] {
    const at = timeOf(line['timestamp']);
    const message = membersOf(line['message']);
    if (at === null || (line['type'] !== 'user' && line['type'] !== 'assistant')) return [];
    const content = message['content'];
    if (line['type'] === 'user' && !isSideways(line, this.#isAgentFile) && isPrompt(line, content)) {
      const ended = this.end();
      this.#line = line;
      this.#begin(line, from, at, contentText(content, this));
      return ended;
    }
    this.#line = line;
    this.#turn ??= this.#begin(line, from, at, null);
    this.#turn.endedAt = Math.max(this.#turn.endedAt, at);
    const chain = this.#chainOf(line, at, content);
    return line['type'] === 'user' ? this.#results(line, chain, at, content) : this.#answered(line, chain, at, message);
  }

  end(): readonly SentSpan[] {
    const turn = this.#turn;
    if (turn === null) return [];
    const spans = [
      ...[...this.#messages.values()].flatMap((message) => this.#callOf(message)),
      ...[...this.#tools.values()].map((tool) => this.#toolSpan(tool, null)),
      ...[...this.#agents.values()].map((agent) => this.#agentSpan(agent)),
    ];
    const root = this.#rootSpan(turn);
    for (const open of [this.#messages, this.#tools, this.#agents, this.#agentOf]) open.clear();
    this.#turn = null;
    return turn.spans === 0 ? [] : [...spans, root];
  }

  #begin(line: Members, from: number, at: number, prompt: string | null): Turn {
    const id = textOf(line['uuid']) ?? `${this.#fileName}:${from}`;
    const [traceId, rootId] = [idOf(NAME, 'trace', id), idOf(NAME, 'turn', id)];
    this.#from = from;
    if (prompt !== null && !this.#isAgentFile) this.#name ??= shortened(prompt, MAX_NAME);
    const turn = { from, traceId, rootId, prompt, startedAt: at, endedAt: at, answer: null, error: null, spans: 0 };
    this.#main = { parent: rootId, since: at };
    this.#turn = turn;
    return turn;
  }

  /** Whose line it is. Subagents of older versions speak in the same file. */
  #chainOf(line: Members, at: number, content: unknown): Chain {
    if (!isSideways(line, this.#isAgentFile)) return this.#main;
    const [uuid, parent] = [textOf(line['uuid']) ?? '', textOf(line['parentUuid'])];
    const key = textOf(line['agentId']) ?? (parent === null ? uuid : (this.#agentOf.get(parent) ?? parent));
    if (this.#agentOf.size < MAX_LINKS) this.#agentOf.set(uuid, key);
    const known = this.#agents.get(key);
    if (known !== undefined) {
      known.endedAt = at;
      return known;
    }
    const prompt = contentText(content, this);
    const caller = [...this.#tools.values()].find(({ input }) => membersOf(input)['prompt'] === prompt);
    const agent: Agent = {
      ...{ parent: idOf(NAME, 'agent', key), since: at, startedAt: at, endedAt: at, prompt },
      below: caller === undefined ? this.#main.parent : toolId(caller.id),
    };
    this.#agents.set(key, agent);
    if (this.#turn !== null) this.#turn.spans += 1;
    return agent;
  }

  #results(line: Members, chain: Chain, at: number, content: unknown): SentSpan[] {
    chain.since = at;
    return blocksOf(content).flatMap((block) => {
      const tool = block['type'] === 'tool_result' ? this.#tools.get(textOf(block['tool_use_id']) ?? '') : undefined;
      if (tool === undefined) return [];
      this.#tools.delete(tool.id);
      const output = contentText(block['content'], this);
      const agentId = textOf(membersOf(line['toolUseResult'])['agentId']);
      return [this.#toolSpan(tool, { at, output, failed: block['is_error'] === true, agentId })];
    });
  }

  #answered(line: Members, chain: Chain, at: number, said: Members): SentSpan[] {
    const key = `${textOf(said['id']) ?? textOf(line['uuid']) ?? ''}\n${textOf(line['requestId']) ?? ''}`;
    let message = this.#messages.get(key);
    const done: SentSpan[] = [];
    if (message === undefined) {
      // The oldest is complete by now.
      const [oldest] = this.#messages.entries();
      if (oldest !== undefined && this.#messages.size >= MAX_OPEN) {
        this.#messages.delete(oldest[0]);
        done.push(...this.#callOf(oldest[1]));
      }
      message = new Message(idOf(NAME, 'call', key), chain.parent, Math.min(chain.since, at));
      this.#messages.set(key, message);
      if (this.#turn !== null) this.#turn.spans += 1;
    }
    message.add(line, said, at);
    for (const block of blocksOf(said['content'])) {
      const id = block['type'] === 'tool_use' ? textOf(block['id']) : null;
      if (id === null) continue;
      const { parent } = chain;
      this.#tools.set(id, { id, name: textOf(block['name']) ?? 'tool', input: block['input'], parent, startedAt: at });
    }
    if (this.#turn !== null && chain === this.#main) {
      this.#turn.answer = message.text ?? this.#turn.answer;
      this.#turn.error = message.error;
    }
    return done;
  }

  #callOf(message: Message): SentSpan[] {
    const { id, parent, startedAt, endedAt, error } = message;
    return [
      {
        ...this.#common(id, parent, startedAt, endedAt),
        ...message.fields(),
        ...(parent === this.#turn?.rootId && startedAt === this.#turn.startedAt && { input_data: this.#turn.prompt }),
        ...(error === null ? { status: 'ok' as const } : { status: 'error' as const, error_message: error }),
      },
    ];
  }

  #toolSpan(
    { id, name, input, parent, startedAt }: Tool,
    result: {
      readonly at: number;
      readonly output: string;
      readonly failed: boolean;
      readonly agentId: string | null;
    } | null,
  ): SentSpan {
    const failed = result?.failed === true;
    return {
      ...this.#common(toolId(id), parent, startedAt, result?.at ?? null),
      ...{ name, kind: 'tool', input_data: JSON.stringify(input ?? {}), output_data: result?.output ?? null },
      status: result === null ? 'unset' : failed ? 'error' : 'ok',
      ...(failed && { error_message: shortened(result.output, MAX_ERROR) }),
      attributes: { tool_use_id: id, ...(result?.agentId != null && { agent_id: result.agentId }) },
    };
  }

  #agentSpan({ parent: id, below, startedAt, endedAt, prompt }: Agent): SentSpan {
    return {
      ...this.#common(id, below, startedAt, endedAt),
      ...{ name: 'Claude Code subagent', kind: 'agent', status: 'ok', input_data: prompt },
    };
  }

  #rootSpan({ rootId, prompt, startedAt, endedAt, answer, error }: Turn): SentSpan {
    return {
      ...this.#common(rootId, null, startedAt, endedAt),
      ...{ name: this.#isAgentFile ? 'Claude Code subagent' : 'Claude Code', kind: 'agent' },
      ...{ input_data: prompt, output_data: answer, status: error === null ? 'ok' : 'error', error_message: error },
    };
  }

  #common(id: string, parent: string | null, startedAt: number, endedAt: number | null) {
    const line = this.#line;
    const session = sessionNamed(textOf(line['sessionId']) ?? this.#fileName);
    const [cwd, branch] = [textOf(line['cwd']), textOf(line['gitBranch'])];
    const tags = tagsOf({
      ...{ [MARK]: NAME, cwd, project: cwd === null ? null : basename(cwd), git_branch: branch },
      ...{ version: textOf(line['version']), agent_id: this.#isAgentFile ? textOf(line['agentId']) : null },
    });
    return {
      ...{ id, trace_id: this.#turn?.traceId ?? '', parent_span_id: parent, session_id: session?.id ?? null },
      session_name: this.#name,
      ...{ started_at: iso(startedAt), ended_at: endedAt === null ? null : iso(endedAt) },
      ...{ tags, trace_tags: tags, session_tags: tags },
    };
  }
}

const toolId = (id: string) => idOf(NAME, 'tool', id);

/** Whether a line is one of a subagent among those of the person. */
function isSideways(line: Members, isAgentFile: boolean): boolean {
  return line['isSidechain'] === true && !isAgentFile;
}

/** Whether a person said it, or whoever called the subagent: what the program says itself begins nothing. */
function isPrompt(line: Members, content: unknown): boolean {
  if (line['isMeta'] === true || line['isCompactSummary'] === true) return false;
  const blocks = blocksOf(content);
  if (blocks.some(({ type }) => type === 'tool_result')) return false;
  const text = blocks.map((block) => textOf(block['text']) ?? '').join('');
  return !/^(\[Request interrupted by user|<local-command-stdout>|<bash-(stdout|stderr)>)/.test(text);
}
