import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import type { StoredSpans } from '../../src/engine/traces/model/deletion/stored-spans.js';
import { STAMPS } from '../../src/engine/traces/model/partial/stamps.js';
import { openMetadataStore, type MetadataStore } from '../../src/compose/metadata-store.js';
import { freshDataDir } from '../harness/fresh-directory.js';
import { makeProject } from '../harness/projects.js';
import { storedSpan } from '../harness/span.js';
import { openStore, type OpenedStore } from '../harness/trace-store.js';
import { PLAIN_JUDGE } from '../judges/fixture.js';
import { allOf, openDeletions } from './service.js';

const NOW = Date.now() * 1000;

describe('a span that is sent again while it is deleted', function () {
  this.timeout(60_000);
  let dataDir: string;
  let opened: OpenedStore;
  let metadata: MetadataStore;
  let project: string;
  let judge: string;

  before(async () => {
    dataDir = await freshDataDir('spanhouse-again-');
    metadata = openMetadataStore(dataDir);
    const made = makeProject(dataDir);
    project = made.projectId;
    judge = metadata.judges.insert(
      {
        ...{ id: randomUUID(), project_id: project, name: 'one', task_slug: 'one', ...PLAIN_JUDGE },
        ...{ judged_since: 0, created_at: NOW, created_by: made.userId, updated_at: NOW, deleted_at: null },
      },
      null,
    ).id;
    opened = await openStore();
  });
  after(async () => {
    metadata.close();
    await opened.dispose();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The store of spans, to which something comes right after, or before, it was asked for this. */
  function withComing(
    name: 'removeTraces' | 'writeTombstones',
    when: 'before' | 'after',
    come: () => Promise<void>,
  ): StoredSpans {
    const spans: StoredSpans = opened.store.deletions;
    const asked = async (...of: [string, never, never]) => {
      if (when === 'before') await come();
      const answer = await spans[name](...of);
      if (when === 'after') await come();
      return answer;
    };
    return new Proxy(spans, {
      get: (target, key: keyof StoredSpans) =>
        key === name ? asked : (target[key] as (...of: unknown[]) => unknown).bind(target),
    });
  }

  for (const [kind, name, when] of [
    ['trace', 'removeTraces', 'after'],
    ['span', 'writeTombstones', 'before'],
  ] as const)
    it(`is evaluated, whether with its trace or alone: ${kind}`, async () => {
      const span = storedSpan({ started_at: NOW });
      await opened.store.log.append({ projectId: project, spans: [span] });
      const ids = { project_id: project, judge_id: judge, span_id: span.id, trace_id: span.trace_id };
      const again = async () => {
        await opened.store.log.append({ projectId: project, spans: [{ ...span, name: 'again' }] });
        metadata.runs.enqueue([{ id: randomUUID(), ...ids, span_started_at: NOW, origin: 'automatic' }], NOW);
      };
      const service = openDeletions(metadata, withComing(name, when, again));
      await service.delete(project, { kind, id: kind === 'span' ? span.id : span.trace_id, by: null });
      await service.close();
      expect(await allOf(opened.store.deletions.contents(project, [span.trace_id]))).to.have.length(1);
      expect(metadata.runs.ofSpan(judge, span.id)).to.have.length(1);
    });

  for (const [kind, name] of [
    ['trace', 'removeTraces'],
    ['span', 'writeTombstones'],
  ] as const)
    it(`is deleted with what was added to it, where only a part of it was sent: ${kind}`, async () => {
      const attributes = { [STAMPS]: { first: 1, base: 1 } };
      const span = storedSpan({ started_at: NOW, input_data: 'old', attributes });
      await opened.store.log.append({ projectId: project, spans: [span] });
      const add = async (output_data: string) => {
        const parts = await opened.store.partial.open(project, [span]);
        const built = { ...(parts.find(span) ?? { ...span, input_data: null }), output_data };
        await parts.log.append({ projectId: project, spans: [built] });
        parts.close();
      };
      const twice = async () => {
        await add('first');
        await add('second');
      };
      const service = openDeletions(metadata, withComing(name, 'before', twice));
      await service.delete(project, { kind, id: kind === 'span' ? span.id : span.trace_id, by: null });
      await service.close();
      expect(await allOf(opened.store.deletions.contents(project, [span.trace_id]))).to.have.length(0);
      await add('later');
      const parts = await opened.store.partial.open(project, [span]);
      expect(parts.find(span)).to.include({ input_data: null, output_data: 'later' });
      parts.close();
    });
});
