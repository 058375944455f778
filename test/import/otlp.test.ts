import { randomBytes } from 'node:crypto';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import protobuf from 'protobufjs/minimal.js';
import { importInto, importScene } from './importing.js';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const START = 1_780_000_000_000_000_000n;

/** A message with one span, as the Collector's file exporter writes it. */
const inJson = (traceId = hex(16)) => ({
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      scopeSpans: [
        {
          spans: [
            {
              ...{ traceId, spanId: hex(8), name: 'call', kind: 3 },
              ...{ startTimeUnixNano: String(START), endTimeUnixNano: String(START + 1_500_000_000n) },
              attributes: [{ key: 'gen_ai.usage.cost', value: { doubleValue: 0.25 } }],
            },
          ],
        },
      ],
    },
  ],
});

/** The same in protobuf. */
function inProtobuf(): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(10).fork().uint32(18).fork().uint32(18).fork();
  writer.uint32(10).bytes(randomBytes(16)).uint32(18).bytes(randomBytes(8)).uint32(42).string('call');
  const nanos = (time: bigint) => ({
    low: Number(time & 0xffffffffn) | 0,
    high: Number(time >> 32n) | 0,
    unsigned: true,
  });
  writer
    .uint32(57)
    .fixed64(nanos(START))
    .uint32(65)
    .fixed64(nanos(START + 5n));
  return Buffer.from(writer.ldelim().ldelim().ldelim().finish());
}

const lines = (count: number) => Array.from({ length: count }, () => `${JSON.stringify(inJson())}\n`).join('');

/** A message behind its length, as the exporter writes protobuf, and whatever it packs. */
function block(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}

describe('an import of files of OTLP messages', function () {
  this.timeout(180_000);
  const scene = importScene();

  const otlp = (...names: string[]) =>
    importInto(scene.server, {
      from: 'otlp',
      paths: names.map((name) => `${scene.folder.path}/${name}`),
      state: scene.folder.state,
    });
  const countOf = async () =>
    (await scene.server.request('GET', '/spans:stats?measures=count')).json.totals.count as number;

  it('takes them in JSON and protobuf, plain and packed, each with its times', async () => {
    const blocks = [inProtobuf(), inProtobuf()];
    await scene.folder.write('f/a.json', lines(3));
    await scene.folder.write('f/b.json.gz', zlib.gzipSync(lines(2)));
    await scene.folder.write('f/c.json.zst', zlib.zstdCompressSync(Buffer.from(lines(2))));
    await scene.folder.write('f/d.pb', Buffer.concat(blocks.map(block)));
    await scene.folder.write(
      'f/e.pb',
      Buffer.concat([inProtobuf(), inProtobuf()].map((each) => block(zlib.zstdCompressSync(each)))),
    );
    await scene.folder.write('f/g.json', block(zlib.zstdCompressSync(Buffer.from(JSON.stringify(inJson())))));
    const report = await otlp('f');
    expect(report?.left).to.deep.equal([]);
    expect(report?.tally).to.include({ spans: 12, traces: 12 });
    expect(report?.compared).to.deep.equal([{ figure: 'spans of this time', source: 12, server: 12, same: true }]);
    expect(await countOf()).to.equal(12);
    const { json: spans } = await scene.server.request('GET', '/spans?limit=1&sort_by=duration_ms');
    expect(spans[0]).to.include({ started_at: '2026-05-28T20:26:40.000000Z', duration_ms: 1500, cost: 0.25 });
    expect((await otlp('f'))?.tally).to.include({ spans: 12 });
    expect(await countOf()).to.equal(12);
  });

  it('names what it does not take: other messages, broken lines and blocks, refused spans', async () => {
    const path = await scene.folder.write(
      'a.json',
      `{"resourceLogs":[]}\n{"resourceSpans":[\n${JSON.stringify(inJson('00'))}\n${lines(1)}`,
    );
    const broken = await scene.folder.write(
      'b.pb',
      Buffer.concat([block(Buffer.from([10, 200])), block(inProtobuf())]),
    );
    const report = await otlp('a.json', 'b.pb');
    expect(report?.left.map(({ why, count, examples }) => [why.slice(0, 30), count, examples])).to.deep.equal([
      ['it is no message of traces', 3, [`${path}:1`, `${path}:2`, `${broken} at byte 0`]],
      [report?.left[1]?.why.slice(0, 30), 1, [`${path}:3`]],
    ]);
    expect(await countOf()).to.equal(2);
    expect(report?.tally).to.include({ spans: 2 });
  });

  it('does not read what is something else', async () => {
    await scene.folder.write('a.bin', Buffer.from('not a message at all'));
    const failed = await otlp('a.bin').then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    expect(failed).to.match(/this is no file of OTLP messages/);
  });
});
