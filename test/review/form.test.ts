import { expect } from 'chai';
import { reviewTextLimits } from '../../src/features/review/schema.js';
import { UnknownNames } from '../../src/engine/validation/unknown-names.js';
import { ReviewForm } from '../../src/features/review/pages/review-form.js';
import { unhurried } from '../harness/program.js';

const FORM = 'application/x-www-form-urlencoded';

describe('the form of a review', () => {
  const form = new ReviewForm(reviewTextLimits(16_000));

  it('has its pairs counted before they are parsed', () => {
    const body = Buffer.from('a&'.repeat(8_000_000));
    const times = [1, 2, 3].map(() => {
      const since = performance.now();
      expect(() => form.body.decode(body, FORM, new UnknownNames())).to.throw('too many fields');
      return performance.now() - since;
    });
    expect(Math.min(...times), 'ms').to.be.below(unhurried(50));
  });

  it('may be as large as its fields can become, and no larger', () => {
    const texts = { reason: '\u4e2d'.repeat(16_000), expected_output: '\u4e2d'.repeat(16_000) };
    const fields = { ...texts, reviewer_name: '\u4e2d'.repeat(100), completion_id: '0'.repeat(36), thumbs_up: 'false' };
    const largest = new URLSearchParams(fields).toString();
    expect(form.body.maxBytes).to.be.within(largest.length, largest.length * 1.02);
  });

  it('counts a line break once, as the browser that sends it does', () => {
    const lines = 'a\r\n'.repeat(8_000);
    const sent = new URLSearchParams({
      completion_id: '0197f3a0-0000-7000-8000-000000000001',
      thumbs_up: 'true',
      reason: lines,
    });
    const { fields } = form.body.decode(Buffer.from(sent.toString()), FORM, new UnknownNames());
    expect(form.read(fields)).to.not.have.property('issues');
    expect(form.read({ ...fields, reason: 'a'.repeat(16_001) })).to.have.property('issues');
  });
});
