import { expect } from 'chai';
import { demoCommand, keptSteps, nextStep, stepsKept, TOUR, type TourStep } from '../../src/console/model/tour.js';

describe('the tour for newcomers', () => {
  it('goes on with the first step that is not done, in whatever order the others were', () => {
    expect(nextStep(new Set())).to.equal('trace');
    expect(nextStep(new Set<TourStep>(['judge', 'trace']))).to.equal('open');
    expect(nextStep(new Set(TOUR.map(({ name }) => name)))).to.equal(undefined);
  });

  it('keeps what was done as a text, and leaves out what is no step', () => {
    const done = new Set<TourStep>(['trace', 'prompt']);
    expect(stepsKept(keptSteps(done))).to.deep.equal(done);
    expect(stepsKept('prompt nothing <b>')).to.deep.equal(new Set(['prompt']));
    expect(stepsKept('')).to.deep.equal(new Set());
  });

  it('tells the exact command of the demo, for the server and the project that are shown', () => {
    expect(demoCommand('http://127.0.0.1:4318', true)).to.equal('npm run demo');
    expect(demoCommand('https://spans.example.org/tools', true)).to.equal(
      'npm run demo -- --url https://spans.example.org/tools',
    );
    expect(demoCommand('http://localhost:4318', false)).to.equal('npm run demo -- --key "$SPANHOUSE_KEY"');
  });
});
