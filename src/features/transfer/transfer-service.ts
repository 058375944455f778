import { surplusImage } from '../images/extraction.js';
import type { Issue } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { tagFlaws } from '../traces/tag-limit.js';
import type { FeedbackContent } from '../feedback/feedback.js';
import { maskedFeedback } from '../feedback/masked-feedback.js';
import { MAX_COMMENT } from '../comments/comment.js';
import type { Maskable, Masker } from '../masking/masker.js';
import type { MaskerOf } from '../masking/maskers.js';
import { maskedScores } from '../scores/masked-score.js';
import { MAX_ROW_BYTES } from '../datasets/dataset.js';
import { keptExampleIssues } from '../calibration/kept-example.js';
import type { Verdict } from '../judges/evaluation.js';
import { maskedVerdict } from '../judges/masked-verdict.js';
import { storedIssues } from '../comparisons/stored-issues.js';
import { jsonIssues } from '../experiments/schema.js';
import { chatContentIssues, checkVersion } from '../prompts/version-rules.js';
import type { Dashboard } from '../dashboards/dashboard.js';
import type { DashboardService } from '../dashboards/dashboard-service.js';
import type { SavedView } from '../saved-views/saved-view.js';
import type { SavedViewService } from '../saved-views/saved-view-service.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import { Normalizer } from '../../engine/schema/normalize.js';
import { callIn } from '../../engine/traces/model/span/span-call.js';
import { normalizeSpan } from '../../engine/traces/model/span/normalize-span.js';
import type { Micros } from '../../engine/timestamp.js';
import { normalizeSession, normalizeTrace } from '../../engine/traces/model/trace/posted.js';
import { invalid } from '../../engine/validation/validation.js';
import type { ScoreTransfer } from '../../engine/traces/model/score/score-transfer.js';
import type { DefinitionStore } from '../scores/definition.js';
import type { ImageTransfer } from './image-transfer.js';
import type { ImportPace } from './import-pace.js';
import type { MetadataTransfer, StoredRecord } from './metadata-transfer.js';
import type { Imported, PageOf, RecordPage } from '../../engine/traces/model/transfer/record-page.js';
import type { MetadataPart, Part } from './parts.js';
import type { AttachmentRecord, SessionRecord, SpanRecord, TraceRecord } from './records.js';
import { fromScoreRecords, toScoreRecord } from './score-records.js';
import { withPastTimes } from './server-times.js';
import type { DatedSpan, SpanTransfer } from '../../engine/traces/model/transfer/span-transfer.js';

/** The room on the disks. */
export interface ImportRoom {
  /** @throws DomainError `unavailable` while there is too little to take anything in */
  requireSpace(): void;
}

export interface TransferParts {
  readonly metadata: MetadataTransfer;
  readonly spans: SpanTransfer;
  readonly scores: ScoreTransfer;
  readonly definitions: Pick<DefinitionStore, 'find'>;
  readonly images: Pick<ImageTransfer, 'page' | 'take'>;
  /** Largest size of the keys and values of one object of tags, in bytes. */
  readonly maxTagBytes: number;
  /** Masks what people and programs wrote, as if they sent it. */
  readonly masker: MaskerOf;
  readonly pace: ImportPace;
  readonly room: ImportRoom;
  /** Resolves when nothing of a project is being deleted: what comes in is older than that, and would go as well. */
  readonly deletionsDone: (projectId: string) => Promise<void>;
  /** Called when prompts or prices of a project came in. */
  readonly onImported: (projectId: string) => void;
  /** Called before metadata of a project is read: nothing that it finds may change afterwards. */
  readonly onRead: (projectId: string) => void;
  /** What no schema says of views and charts: the lists know. */
  readonly savedViews: Pick<SavedViewService, 'issuesOf'>;
  readonly dashboards: Pick<DashboardService, 'issuesOf'>;
  readonly audit: AuditLog;
}

/** A page of records: as JSON texts, or as objects whose times are numbers. */
export type TransferPage =
  | ({ readonly as: 'texts' } & RecordPage<string>)
  | ({ readonly as: 'objects' } & RecordPage<StoredRecord | AttachmentRecord>);

/** A span, with its times read already. */
type ReadSpan = Omit<SpanRecord, 'created_at' | 'written_at'> & {
  readonly created_at: Micros;
  readonly written_at: Micros;
};

/** Takes projects out, record by record, and into another installation. */
export class TransferService {
  readonly #parts: TransferParts;

  constructor(parts: TransferParts) {
    this.#parts = parts;
  }

  /** @param asOf what is beside spans and was made later is left out @throws DomainError `invalid`, `unavailable` */
  async page(part: Part, asOf: Micros, of: PageOf, by: Principal): Promise<TransferPage> {
    const { spans, scores, images, metadata, audit } = this.#parts;
    // Whoever has the first page may go on.
    if (of.after === null) audit.done({ event: 'recordsExported', by, project_id: of.projectId, part });
    if (part === 'spans' || part === 'traces' || part === 'sessions')
      return { as: 'texts', ...(await spans[part](of)) };
    if (part === 'scores') {
      const page = await scores.page(of);
      return { as: 'texts', ...page, records: page.records.map(toScoreRecord) };
    }
    if (part === 'attachments') return { as: 'objects', ...(await images.page(of)) };
    this.#parts.onRead(of.projectId);
    return { as: 'objects', ...metadata.page(part, asOf, of) };
  }

  /**
   * Stores records of one part, all or none, but for those that are there; makes way for clients.
   * @param records fit their schema; times that servers set are numbers
   * @throws DomainError `invalid`, `conflict`, `overloaded`, `unavailable`, and those of the stores; the signal's reason
   */
  async take(part: Part, by: Principal, sent: readonly StoredRecord[], signal?: AbortSignal): Promise<Imported> {
    const { project_id: projectId } = by;
    const records = withPastTimes(part, sent, Date.now() * 1000);
    await this.#parts.deletionsDone(projectId);
    return this.#parts.pace.run(projectId, () => this.#take(part, by, records), signal);
  }

  async #take(part: Part, by: Principal, records: readonly unknown[]): Promise<Imported> {
    if (records.length === 0) return { stored: 0, unchanged: 0 };
    const { project_id: projectId } = by;
    const { spans, scores, definitions, images, room } = this.#parts;
    // Of every part: metadata and images fill a disk as well as spans do.
    room.requireSpace();
    switch (part) {
      case 'spans':
        return spans.takeSpans(projectId, await this.#spans(projectId, records as ReadSpan[]));
      case 'traces':
        return spans.takeTraces(
          projectId,
          await this.#masked(projectId, this.#normalized(records as TraceRecord[], normalizeTrace)),
        );
      case 'sessions':
        return spans.takeSessions(
          projectId,
          await this.#masked(
            projectId,
            this.#normalized(
              (records as SessionRecord[]).map((record) => ({ ...record, project_id: projectId })),
              normalizeSession,
            ),
          ),
        );
      case 'scores': {
        const find = (name: string) => definitions.find(projectId, name);
        const read = fromScoreRecords(projectId, records as Parameters<typeof fromScoreRecords>[1], find);
        return scores.take(projectId, maskedScores(read, this.#parts.masker(projectId), find));
      }
      case 'attachments':
        return images.take(projectId, records as AttachmentRecord[]);
      default:
        return this.#takeMetadata(part, by, records as StoredRecord[]);
    }
  }

  async #takeMetadata(part: MetadataPart, by: Principal, records: readonly StoredRecord[]): Promise<Imported> {
    requireRules(this.#parts, part, records);
    const { project_id: projectId } = by;
    const { metadata, audit, onImported } = this.#parts;
    const masker = this.#parts.masker(projectId);
    const masked =
      masker === null ? records : await masker.saidEach(records, (record) => maskedRecord(part, record, masker));
    const imported = audit.together(() => {
      const taken = metadata.take(part, projectId, masked);
      const { stored } = taken;
      if (stored > 0) audit.done({ event: 'metadataImported', by, project_id: projectId, part, stored });
      return taken;
    });
    onImported(projectId);
    return imported;
  }

  async #masked<T extends Maskable>(projectId: string, sent: readonly T[]): Promise<readonly T[]> {
    const masker = this.#parts.masker(projectId);
    return masker === null ? sent : masker.maskEach(sent);
  }

  async #spans(projectId: string, records: readonly ReadSpan[]): Promise<DatedSpan[]> {
    const read = this.#normalized(records, (record, normalizer) => {
      const call = callIn(record);
      const span = { ...normalizeSpan(record, normalizer), call, cost_calculated: record.cost_calculated };
      const surplus = surplusImage(span);
      if (surplus !== undefined) normalizer.fail(surplus.pointer.slice(1), surplus.detail);
      return span;
    });
    const spans = await this.#masked(projectId, read);
    return spans.map((span, index) => {
      const { written_at = 0, created_at = 0 } = records[index] ?? {};
      return { span, writtenAt: written_at, receivedAt: created_at };
    });
  }

  /** @throws DomainError `invalid` with the rules that no schema says */
  #normalized<I, O extends Parameters<typeof tagFlaws>[0][number]>(
    records: readonly I[],
    normalize: (record: I, normalizer: Normalizer) => O,
  ): O[] {
    const issues: Issue[] = [];
    const read = records.map((record, index) => normalize(record, new Normalizer(`/${index}`, issues)));
    for (const { index, issues: found } of tagFlaws(read, this.#parts.maxTagBytes))
      issues.push(...found.map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail })));
    if (issues.length > 0) throw invalid(issues);
    return read;
  }
}

/** Parts with what people wrote. */
const WITH_FEEDBACK: ReadonlySet<MetadataPart> = new Set<MetadataPart>(['feedback', 'span_feedback', 'corrections']);

function maskedRecord(part: MetadataPart, record: StoredRecord, masker: Masker): StoredRecord {
  if (part === 'comments') return { ...record, text: masker.maskText(String(record['text']), MAX_COMMENT) };
  if (part === 'pinned_examples') return { ...record, example: masker.maskValue(record['example']) };
  if (part === 'evaluations') return { ...record, ...maskedVerdict(record as unknown as Verdict, masker) };
  if (!WITH_FEEDBACK.has(part)) return record;
  return { ...record, ...maskedFeedback(record as unknown as FeedbackContent, masker) };
}

type Rules = Pick<TransferParts, 'savedViews' | 'dashboards'>;

/** Rules of records that no schema says: those that the calls which make such things have, too. */
const RULES: Partial<Record<MetadataPart, (record: StoredRecord, rules: Rules) => Issue[]>> = {
  saved_views: (record, { savedViews }) => savedViews.issuesOf(record as unknown as SavedView),
  dashboards: (record, { dashboards }) => dashboards.issuesOf(record as unknown as Dashboard),
  prompt_versions: promptVersionIssues,
  feedback: ({ metadata }) => metadataIssues(metadata),
  experiments: ({ subject, parameters }) => jsonIssues({ subject, parameters }),
  experiment_metrics: ({ results }) => jsonIssues({ results }),
  comparisons: storedIssues,
  evaluations: subjectIssues,
  pinned_examples: keptExampleIssues,
  dataset_rows: ({ content }) =>
    content === null || Buffer.byteLength(JSON.stringify(content)) <= MAX_ROW_BYTES
      ? []
      : [{ pointer: '/content', detail: `must have at most ${MAX_ROW_BYTES} bytes as JSON` }],
};

/** @throws DomainError `invalid` where a record breaks a rule of its part */
function requireRules(rules: Rules, part: MetadataPart, records: readonly StoredRecord[]): void {
  const issuesOf = RULES[part] ?? (() => []);
  const issues = records.flatMap((record, index) =>
    issuesOf(record, rules).map(({ pointer, detail }) => ({ pointer: `/${index}${pointer}`, detail })),
  );
  if (issues.length > 0) throw invalid(issues);
}

function promptVersionIssues(record: StoredRecord): Issue[] {
  const content = String(record['content']);
  const isChat = record['is_chat'] === true;
  const config = (record['config'] ?? {}) as Readonly<Record<string, unknown>>;
  const { issues } = checkVersion({ ...record, content, config }, isChat);
  return [...issues, ...(isChat ? chatContentIssues(content) : [])];
}

/** What was evaluated, when its spans had arrived and which traces were shown is known together: of a trace or session, all of it. */
function subjectIssues({ subject_id, subject_arrived_at, trace_ids }: StoredRecord): Issue[] {
  const isWhole = subject_id != null;
  const detail = isWhole ? 'is required with subject_id' : 'must be null without subject_id';
  return Object.entries({ subject_arrived_at, trace_ids })
    .filter(([, value]) => (value != null) !== isWhole)
    .map(([name]) => ({ pointer: `/${name}`, detail }));
}
