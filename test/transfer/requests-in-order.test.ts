import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { NumberedRecord } from '../../scripts/transfer/reader.js';
import { RequestsInOrder } from '../../scripts/transfer/requests-in-order.js';
import type { Part } from '../../src/features/transfer/parts.js';
import { uuid } from '../harness/checked-api.js';

const record = (part: Part, line: number, id: number, more = ''): NumberedRecord => ({
  part,
  line,
  json: Buffer.from(`{${more}"id":"${uuid(id)}","trace_id":"${uuid(500)}","name":"x"}`),
});

describe('requests of an import', () => {
  /** Sends batches of one record, which are answered by `answer`. */
  function requests() {
    const waiting = new Map<number, (failure?: Error) => void>();
    const told: number[] = [];
    const sent = new RequestsInOrder(
      ([first]) =>
        new Promise((resolve, reject) => {
          waiting.set(first?.line ?? 0, (failure) => (failure === undefined ? resolve(1) : reject(failure)));
        }),
      ([first]) => {
        told.push(first?.line ?? 0);
        return Promise.resolve();
      },
    );
    const answer = async (line: number, failure?: Error) => {
      waiting.get(line)?.(failure);
      waiting.delete(line);
      for (let turns = 0; turns < 5; turns += 1) await turn();
    };
    return { sent, told, answer, underWay: () => [...waiting.keys()] };
  }

  it('go four at once where they are spans, and are told in their order', async () => {
    const { sent, told, answer, underWay } = requests();
    for (const line of [1, 2, 3, 4]) await sent.add([record('spans', line, line)]);
    const fifth = sent.add([record('spans', 5, 5)]);
    expect(underWay()).to.deep.equal([1, 2, 3, 4]);
    await answer(2);
    expect(told).to.deep.equal([]);
    await answer(1);
    await fifth;
    expect(told).to.deep.equal([1]);
    const all = sent.ended();
    for (const line of [3, 4, 5]) await answer(line);
    await all;
    expect(told).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('never bring two versions of a span at once, nor anything else beside another part', async () => {
    const { sent, told, answer, underWay } = requests();
    await sent.add([record('spans', 1, 1)]);
    // Written by another program, in another order.
    const again = sent.add([record('spans', 2, 1, '"kind":"llm",')]);
    await answer(7);
    expect(underWay()).to.deep.equal([1]);
    await answer(1);
    await again;
    const traces = sent.add([record('traces', 3, 3)]);
    expect(underWay()).to.deep.equal([2]);
    await answer(2);
    await traces;
    const more = sent.add([record('traces', 4, 4)]);
    expect(underWay()).to.deep.equal([3]);
    await answer(3);
    await more;
    await answer(4);
    await sent.ended();
    expect(told).to.deep.equal([1, 2, 3, 4]);
  });

  it('fail by the first of them that did, and nothing behind it counts', async () => {
    const { sent, told, answer } = requests();
    for (const line of [1, 2, 3]) await sent.add([record('spans', line, line)]);
    const ended = sent.ended().then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    await answer(3);
    await answer(2, new Error('the second'));
    await answer(1);
    expect(await ended).to.equal('the second');
    expect(told).to.deep.equal([1]);
  });
});
