import { Registry, collectDefaultMetrics } from 'prom-client';
import { metricMaker } from './metrics/maker.js';
import { requestMetrics } from './metrics/requests.js';
import { spanMetrics } from './metrics/spans.js';
import { writeMetrics } from './metrics/writes.js';
import { monitorMetrics } from './metrics/monitors.js';
import { backupMetrics } from './metrics/backups.js';
import { storeMetrics } from './metrics/stores.js';
import { rollupMetrics } from './metrics/rollups.js';
import { peopleMetrics } from './metrics/people.js';
import { judgeMetrics } from './metrics/judges.js';
import { modelMetrics } from './metrics/models.js';
import { jobMetrics } from './metrics/jobs.js';
import { upkeepMetrics } from './metrics/upkeep.js';
import { imageMetrics } from './metrics/images.js';

/** Gauges of prom-client with the ending of counters; each has its figures by type in another metric. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let ofProcess: Registry | undefined;

/**
 * Metrics of the process, made once: nothing ends the timers and the observers of garbage collection that they have, which would keep
 * a server that is stopped, and all it holds, for as long as the process runs.
 */
function processMetrics(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Every metric of the server, on a registry of its own, so that two servers in one process share no figures but those of the
 * process.
 * Labels take few values: routes are templates (`/traces/{id}`), never paths.
 */
export function createMetrics() {
  const registry = Registry.merge([processMetrics()]);
  const maker = metricMaker(registry);
  return {
    registry,
    ...requestMetrics(maker),
    ...spanMetrics(maker),
    ...writeMetrics(maker),
    ...monitorMetrics(maker),
    ...backupMetrics(maker),
    ...storeMetrics(maker),
    ...rollupMetrics(maker),
    ...peopleMetrics(maker),
    ...judgeMetrics(maker),
    ...modelMetrics(maker),
    ...jobMetrics(maker),
    ...upkeepMetrics(maker),
    ...imageMetrics(maker),
  };
}
