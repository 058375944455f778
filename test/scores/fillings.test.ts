import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { defaultQuery } from '../../src/engine/traces/model/list/query.js';
import { traceList } from '../../src/engine/traces/model/list/definitions.js';
import { FilledRows } from '../../src/engine/traces/list/filled-rows.js';
import { Fillings, type Filling } from '../../src/engine/traces/list/fillings.js';
import { traceSource } from '../../src/engine/traces/list/sources.js';
import { UNBOUNDED } from '../../src/engine/traces/write/disk-space.js';
import { statementOf } from '../harness/statement.js';
import { openStore, type OpenedStore } from '../harness/trace-store.js';

const LIMITS = { timeoutSeconds: 30, maxResultBytes: 1e6 };

describe('fillings of newest scores', () => {
  let opened: OpenedStore;
  let isFull = false;
  before(async () => {
    const requireFree = () => {
      if (isFull) throw new DomainError('unavailable', 'full');
    };
    opened = await openStore({ space: { ...UNBOUNDED, requireFree } });
  });
  after(() => opened?.dispose());

  const count = async (statement: string) => {
    const [row] = await opened.client.query<{ count: string }>(statementOf(statement));
    return Number(row?.count);
  };
  const filled = () => count('SELECT toString(count()) AS count FROM newest_scores');

  it('are not made while the disk has too little room', async () => {
    const [projectId, entity_id] = [randomUUID(), randomUUID()];
    const given = { entity_type: 'trace', kind: 'numeric', value: 1, source: 'sdk', author: '' } as const;
    const scores = ['first', 'second'].map((name) => ({
      ...{ ...given, id: randomUUID(), entity_id, name, comment: null, metadata: {} },
    }));
    await opened.store.log.append({ projectId, scores });
    const list = (name: string) =>
      opened.store.lists.traces(projectId, { ...defaultQuery(traceList), sort: `scores.${name}` });
    for (let read = 0; read < 2; read += 1) await list('first');
    expect(await filled()).to.equal(1);
    isFull = true;
    for (let read = 0; read < 2; read += 1) await list('second');
    expect(await filled()).to.equal(1);
    isFull = false;
    await list('second');
    expect(await filled()).to.equal(2);
  });

  it('are removed together', async () => {
    // It empties the table before it fills.
    const table = new FilledRows({ client: opened.client, limits: LIMITS, space: UNBOUNDED });
    for (let filling = 1; filling <= 6; filling += 1)
      await table.insert(
        statementOf(
          `INSERT INTO newest_scores (project_id, entity_type, name, filling, scored) VALUES ('p', 'trace', 'n', ${filling}, generateUUIDv4())`,
        ),
        statementOf(`filling = ${filling}`),
      );
    expect(await filled()).to.equal(6);
    for (let filling = 1; filling <= 5; filling += 1) table.remove(filling);
    while ((await filled()) > 1);
    const mutations = `SELECT toString(count()) AS count FROM system.mutations WHERE database = currentDatabase() AND table = 'newest_scores'`;
    expect(await count(mutations)).to.be.at.most(2);
  });

  it('of all projects are bounded, and those of the project with most go first', () => {
    const removed: number[] = [];
    const fillings = new Fillings((filling) => removed.push(filling));
    const filling = (projectId: string, number: number): Filling => ({
      ...{ projectId, source: traceSource, name: `name ${number}`, filling: number, generation: 0 },
      ...{ upTo: 1, readers: 0, again: 0, computed: 0, objects: 1 },
    });
    fillings.keep(filling('small', 0));
    for (let project = 0; project < 11; project += 1)
      for (let name = 1; name <= 40; name += 1) fillings.keep(filling(`project ${project}`, project * 100 + name));
    expect(removed).to.have.length(41);
    expect(removed).not.to.include(0);
  });
});
