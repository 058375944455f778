import { setTimeout as sleep } from 'node:timers/promises';
import { GroupCommit } from './group-commit.js';
import { openWay, recordSource, type Way } from './log-ways.js';

/** What a process of its own measures: clients that append records one after another in one way. */
export interface AppendsJob {
  readonly way: Way;
  readonly directory: string;
  readonly clients: number;
  readonly bytes: number;
  readonly rows: number;
  readonly seconds: number;
  readonly maxRows: number;
  readonly maxBytes: number;
}

export interface AppendsOutcome {
  readonly ms: number;
  /** Milliseconds from each append to its being durable. */
  readonly latencies: readonly number[];
  /** Processor time of the whole process, in milliseconds. */
  readonly cpuMs: number;
}

const WARM_UP_MS = 500;

process.once('message', (job: AppendsJob) => {
  void measure(job).then((outcome) => {
    process.send?.(outcome, () => {
      process.disconnect();
    });
  });
});

async function measure({ way, directory, clients, bytes, rows, seconds, ...limits }: AppendsJob) {
  const writer = await openWay(way, directory);
  const log = new GroupCommit(writer, limits);
  const nextRecord = recordSource(bytes, rows);
  let latencies: number[] = [];
  let stopping = false;
  const client = async () => {
    while (!stopping) {
      const started = performance.now();
      await log.append(nextRecord());
      latencies.push(performance.now() - started);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  await Promise.race([sleep(WARM_UP_MS), all]);
  const [started, before] = [performance.now(), process.cpuUsage()];
  latencies = [];
  await Promise.race([sleep(seconds * 1000), all]);
  const [ms, { user, system }, counted] = [performance.now() - started, process.cpuUsage(before), latencies];
  latencies = [];
  stopping = true;
  await all;
  await writer.close();
  return { ms, latencies: counted, cpuMs: (user + system) / 1000 } satisfies AppendsOutcome;
}
