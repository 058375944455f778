import { ImportError } from './import-error.js';
import type { Given, SourceOptions } from './source-options.js';
import { openLangfuse } from './langfuse/langfuse.js';
import { openLangSmith } from './langsmith/langsmith.js';
import { openOtlp } from './otlp/otlp-files.js';
import { openPhoenix } from './phoenix/phoenix.js';
import type { Source } from './step.js';
import { openClaudeCode, openCodex } from './transcripts/transcripts.js';

interface SourceDefinition {
  readonly summary: string;
  readonly open: (paths: readonly string[], options: Given) => Promise<Source>;
}

export const SOURCES: Readonly<Record<string, SourceDefinition>> = {
  'claude-code': {
    summary: 'transcripts of Claude Code (default: ~/.claude/projects)',
    open: openClaudeCode,
  },
  codex: { summary: 'transcripts of Codex (default: ~/.codex/sessions)', open: openCodex },
  otlp: {
    summary: "files of the OpenTelemetry Collector's file exporter: JSON lines or protobuf, plain or packed",
    open: openOtlp,
  },
  langfuse: {
    summary: 'a project of a Langfuse server, or files of its blob export as JSON lines',
    open: openLangfuse,
  },
  langsmith: {
    summary: 'runs of a bulk export of LangSmith in Parquet, with feedback from its API',
    open: openLangSmith,
  },
  phoenix: {
    summary: 'spans and annotations of a project of a Phoenix server, or spans in Parquet',
    open: openPhoenix,
  },
};

/** @throws ImportError when there is nothing to read, or options do not fit */
export function openSource(from: string, paths: readonly string[], options: SourceOptions): Promise<Source> {
  const source = SOURCES[from];
  if (source === undefined) throw new ImportError(`There is no source ${from}`);
  return source.open(paths, { ...options, sinceMs: sinceOf(options.since) });
}

function sinceOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new ImportError(`--since must be a time such as 2026-10-01, not ${text}`);
  return at;
}
