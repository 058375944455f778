import { expect } from 'chai';
import { ProjectMemory } from '../../src/langsmith/project-memory.js';

describe('what is remembered of projects', () => {
  it('goes where its own project has too much of it, oldest first, and stays for others', () => {
    const memory = new ProjectMemory<number>();
    memory.note('b', 'own', 7);
    for (let index = 0; index < 20_000; index += 1) memory.note('a', String(index), index);
    expect(memory.get('b', 'own')).to.equal(7);
    expect(memory.get('a', '18999')).to.equal(undefined);
    expect(memory.get('a', '19000')).to.equal(19_000);
    memory.forget('b', 'own');
    expect(memory.get('b', 'own')).to.equal(undefined);
  });

  it('goes with the project that was noted longest ago, where all have too much', () => {
    const memory = new ProjectMemory<number>();
    for (let project = 0; project < 11; project += 1)
      for (let index = 0; index < 1_000; index += 1) memory.note(String(project), String(index), index);
    expect(memory.get('0', '999')).to.equal(undefined);
    for (let project = 1; project < 11; project += 1) expect(memory.get(String(project), '0')).to.equal(0);
  });
});
