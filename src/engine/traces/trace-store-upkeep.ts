import { spanAudits } from './check/span-audits.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { Liveness } from './clickhouse/client/liveness.js';
import type { Rollups } from './rollup/rollups.js';
import type { TraceStore } from './trace-store.js';
import type { TraceStoreCore } from './trace-store-core.js';

type Recompute = Rollups['recompute'];
type Names =
  | 'rollUp'
  | 'refuseWrites'
  | 'written'
  | 'purge'
  | 'purgeRemovedTraces'
  | 'erase'
  | 'indexWords'
  | 'mendingAudits'
  | 'check'
  | 'takesWrites'
  | 'close';

/** What keeps the store in order, and what ends it. */
export function upkeepOf(client: ClickHouseClient, core: TraceStoreCore): Pick<TraceStore, Names> {
  const { log, rollups, indexer, purge, erasure, flusher } = core;
  const liveness = new Liveness(client);
  return {
    rollUp: (projectId) => rollups.settle(projectId),
    refuseWrites: (refusal) => log.gate.refuse(refusal),
    async written() {
      await log.idle();
      await log.forgotten();
      return rollups.settle();
    },
    async purge() {
      await rollups.settle();
      await log.forgotten();
      return purge.run();
    },
    async purgeRemovedTraces() {
      await log.forgotten();
      await purge.ofRemovedTraces();
    },
    async erase(signal = new AbortController().signal, onProgress = () => undefined) {
      await rollups.settle();
      await log.forgotten();
      return erasure.run(signal, onProgress);
    },
    async indexWords() {
      await rollups.settle();
      await indexer.run();
    },
    mendingAudits: (options) => mendingAudits(client, core, options),
    async check() {
      if (flusher.failing) throw new Error('ClickHouse does not accept acknowledged spans');
      if (!(await liveness.answers())) throw new Error('ClickHouse does not respond');
    },
    takesWrites: () => log.gate.takesAlone,
    async close() {
      await purge.close();
      await indexer.close();
      await log.close();
      await rollups.close();
    },
  };
}

async function mendingAudits(
  client: ClickHouseClient,
  { rollups, newestScores, words, indexer }: TraceStoreCore,
  options: Parameters<TraceStore['mendingAudits']>[0],
) {
  await rollups.settle();
  // What they find is recomputed, as nothing compares what is stored of it.
  newestScores.forgetAll();
  const renewWords = async () => {
    await words.clear();
    await indexer.run();
  };
  const recompute: Recompute = async (items) => {
    try {
      await rollups.recompute(items);
    } finally {
      // What was repaired has the versions that it had.
      newestScores.forgetAll();
    }
  };
  return spanAudits(client, { ...options, stopped: false, mending: { recompute, renewWords } });
}
