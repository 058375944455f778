import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readFile, rm, rmdir, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { LogRecord } from '../../src/engine/traces/write/log/record.js';
import { salvageLog } from '../../src/engine/traces/write/log/salvage.js';
import { ForeignLogError } from '../../src/engine/traces/write/log/recovery.js';
import { DamagedLogError } from '../../src/engine/traces/write/log/segment.js';
import { SegmentLog } from '../../src/engine/traces/write/log/segment-log.js';

const OPTIONS = { schema: 12, store: 'the embedded ClickHouse', columns: { spans: ['ver', 'id'] } };

describe('the write-ahead log', () => {
  let directory: string;
  let next = 1;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'spanhouse-log-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const record = (bytes = 100, rows = 1): LogRecord => {
    const first = next;
    next += rows;
    const tables = [{ table: 'spans', bytes: randomBytes(bytes) }];
    return { projectId: randomUUID(), first, rows, deletes: false, traces: [randomUUID()], sessions: [], tables };
  };
  const start = (options: { segmentBytes?: number; schema?: number; store?: string } = {}) =>
    SegmentLog.open({ directory, ...OPTIONS, ...options });
  const segments = async () => (await readdir(directory)).filter((name) => name.endsWith('.log')).sort();
  /** What a start finds, with the rows of each record. */
  const recover = async () => {
    const { log, recovered } = await start();
    const found: LogRecord[] = [];
    for (const { place, head } of recovered) found.push({ ...head, tables: (await log.read(place)).tables });
    return { log, found, recovered };
  };

  it('gives back every record that was appended, in whatever groups and segments', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(5_000), { minLength: 1, maxLength: 5 }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 20_000 }),
        async (groups, segmentBytes) => {
          await rm(directory, { recursive: true, force: true });
          const { log } = await start({ segmentBytes });
          const appended: LogRecord[] = [];
          for (const sizes of groups) {
            const group = sizes.map((size) => record(size, 1 + (size % 3)));
            await log.append(group);
            appended.push(...group);
          }
          await log.close();
          expect((await recover()).found).to.deep.equal(appended);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('removes a segment when everything in it is stored, and not before', async () => {
    const { log } = await start({ segmentBytes: 1 });
    const [one] = await log.append([record()]);
    const [two] = await log.append([record()]);
    expect(await segments()).to.have.length(2);
    const { oldest } = log;
    log.stored(one === undefined ? [] : [one]);
    await log.seal();
    await log.removed();
    expect(await segments()).to.have.length(1);
    expect(log.oldest).to.equal(oldest + 1);
    log.stored(two === undefined ? [] : [two]);
    await log.seal();
    await log.removed();
    expect(await segments()).to.deep.equal([]);
    expect(log.oldest).to.equal(Infinity);
    await log.close();
    expect((await recover()).found).to.deep.equal([]);
  });

  it('removes a segment later that it could not remove', async () => {
    const { log } = await start({ segmentBytes: 1 });
    const stored = await log.append([record()]);
    const [name = ''] = await segments();
    // What is not a file is not removed.
    await rm(join(directory, name));
    await mkdir(join(directory, name));
    const { oldest } = log;
    log.stored(stored);
    await log.removed();
    expect(log.oldest).to.equal(oldest);
    await rmdir(join(directory, name));
    log.stored(await log.append([record()]));
    await log.removed();
    expect(log.oldest).to.equal(Infinity);
    await log.close();
  });

  it('begins another segment when asked to, also while it writes, so that the one before can go', async () => {
    const { log } = await start();
    const stored = await log.append([record()]);
    const writing = log.append([record()]);
    await log.seal();
    const [last] = await log.append([record()]);
    log.stored([...stored, ...(await writing)]);
    await log.removed();
    expect(await segments()).to.deep.equal([last?.segment.name]);
    await log.close();
  });

  it('removes what is stored of the segment that it writes to within seconds, though nobody writes', async () => {
    const { log } = await SegmentLog.open({ directory, ...OPTIONS, idleMs: 20 });
    log.stored(await log.append([record()]));
    while ((await segments()).length > 0) await new Promise((wake) => setTimeout(wake, 5));
    await log.close();
  });

  it('has removed that segment when it says so, also while it is just being closed', async () => {
    const idleMs = 20;
    const { log } = await SegmentLog.open({ directory, ...OPTIONS, idleMs });
    log.stored(await log.append([record()]));
    // Timers of one delay fire in their order: this one right behind that of the log.
    await new Promise((wake) => setTimeout(wake, idleMs));
    await log.seal();
    await log.removed();
    expect(log.oldest).to.equal(Infinity);
    expect(await segments()).to.deep.equal([]);
    await log.close();
  });

  describe('cut off within its last write', () => {
    it('ends with the last whole record, at whatever byte', async () => {
      const { log } = await start();
      const kept = [record(), record()];
      await log.append(kept);
      const [name = ''] = await segments();
      const { size: from } = await stat(join(directory, name));
      await log.append([record(60), record(60)]);
      await log.close();
      const whole = await readFile(join(directory, name));
      for (let size = from; size < whole.length; size += 1) {
        await writeFile(join(directory, name), whole.subarray(0, size));
        const { log: again, found } = await recover();
        expect(found.slice(0, 2), `cut off at ${size}`).to.deep.equal(kept);
        expect(found.length, `cut off at ${size}`).to.be.at.most(3);
        await again.close();
      }
    });

    it('goes on where a page of the write is missing before one that is there', async () => {
      const { log } = await start();
      const kept = record();
      await log.append([kept]);
      const [name = ''] = await segments();
      const { size: from } = await stat(join(directory, name));
      await log.append([record(60), record(60)]);
      await log.close();
      const file = await open(join(directory, name), 'r+');
      await file.write(Buffer.alloc(40), 0, 40, from);
      await file.close();
      const { log: again, found } = await recover();
      expect(found).to.deep.equal([kept]);
      const more = record();
      await again.append([more]);
      await again.close();
      expect((await recover()).found).to.deep.equal([kept, more]);
    });

    it('is made anew where even its beginning is missing', async () => {
      const { log } = await start();
      await log.append([record()]);
      await log.close();
      const [name = ''] = await segments();
      await truncate(join(directory, name), 10);
      expect((await recover()).found).to.deep.equal([]);
    });
  });

  describe('damaged where it was synced', () => {
    it('says the file and the byte, at whatever byte of the middle', async () => {
      const { log } = await start();
      await log.append([record(60)]);
      const [name = ''] = await segments();
      const path = join(directory, name);
      const { size: from } = await stat(path);
      await log.append([record(60)]);
      const { size: to } = await stat(path);
      await log.append([record(60)]);
      await log.close();
      const whole = await readFile(path);
      for (let at = from; at < to; at += 1) {
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ 0xff;
        await writeFile(path, damaged);
        const error = await recover().catch((failure: unknown) => failure);
        expect(error, `damaged at ${at}`).to.be.instanceOf(DamagedLogError);
        expect((error as DamagedLogError).message).to.contain(`${path} is damaged at byte ${from}`);
      }
    });

    it('is noticed at the end of a segment that another follows', async () => {
      const { log } = await start({ segmentBytes: 1 });
      await log.append([record()]);
      await log.append([record()]);
      await log.close();
      const [name = ''] = await segments();
      const path = join(directory, name);
      await truncate(path, (await stat(path)).size - 1);
      expect(await recover().catch((error: unknown) => error)).to.be.instanceOf(DamagedLogError);
    });
  });

  it('is salvaged but for the records that are damaged, and can be started with', async () => {
    const { log } = await start({ segmentBytes: 1500 });
    const all: LogRecord[] = [];
    for (let nth = 0; nth < 12; nth += 1) {
      const group = [record(300), record(300)];
      await log.append(group);
      all.push(...group);
    }
    await log.close();
    const names = await segments();
    const path = join(directory, names[1] ?? '');
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(20), 0, 20, Math.floor(size / 2));
    await file.close();
    expect(await recover().catch((error: unknown) => error)).to.be.instanceOf(DamagedLogError);
    const [salvaged, ...others] = await salvageLog(directory);
    expect(others).to.deep.equal([]);
    expect(salvaged).to.include({ file: path, kept: `${path}.damaged` });
    const { found } = await recover();
    const lost = all.filter((each) => !found.some(({ first }) => first === each.first));
    expect(lost).to.have.length(1);
    expect(found).to.deep.equal(all.filter((each) => each !== lost[0]));
    expect(await salvageLog(directory)).to.deep.equal([]);
  });

  it('leaves what could not be written, also where it is on the disk after all', async () => {
    const { log } = await start();
    const kept = record();
    await log.append([kept]);
    const [name = ''] = await segments();
    const lost = record();
    const tables = [{ table: 'spans', bytes: null as unknown as Buffer }];
    expect(await log.append([{ ...lost, tables }]).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(log.failing).to.equal(true);
    const after = record();
    await log.append([after]);
    await log.close();
    expect(await segments()).to.have.length(2);
    expect((await segments())[0]).to.equal(name);
    expect((await recover()).found).to.deep.equal([kept, after]);
  });

  it('of another database, or of a later version, is left alone', async () => {
    const { log } = await start();
    await log.append([record()]);
    await log.close();
    const failure = (options: Parameters<typeof start>[0]) => start(options).catch((error: unknown) => error);
    expect(await failure({ store: 'the database a at b' })).to.be.instanceOf(ForeignLogError);
    expect(await failure({ schema: 11 })).to.be.instanceOf(ForeignLogError);
    expect((await start({ schema: 13 })).recovered).to.have.length(1);
  });

  it('keeps what ClickHouse cannot read in a file of its own', async () => {
    const { log } = await start();
    const refused = record();
    const [place] = await log.append([refused]);
    if (place === undefined) throw new Error('no place');
    const file = await log.quarantine(place);
    log.stored([place]);
    await log.seal();
    await log.removed();
    expect((await readFile(file)).includes(refused.tables[0]?.bytes ?? '-')).to.equal(true);
    await log.close();
    expect((await recover()).found).to.deep.equal([]);
  });
});
