/** A server of its own, to be killed: starts an engine on the directory given and tells its process id. */
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { LIMITS, silent } from './contract/engines.js';

const engine = await startEngine({ ...LIMITS, path: process.argv[2] ?? '', logger: silent });
process.send?.(engine.pid);
