import { expect } from 'chai';

/** How often each thing is killed: three times in CI, more by hand, as `KILLS=10 npm run test:faults -- test/backup`. */
export const KILLS = Number(process.env['KILLS'] ?? 3);

/** Counts deaths, of which only those in the middle of something show anything. */
export class Deaths {
  readonly #of: string;
  #all = 0;
  #inTheMiddle = 0;

  constructor(of: string) {
    this.#of = of;
  }

  get inTheMiddle(): number {
    return this.#inTheMiddle;
  }

  add(inTheMiddle: boolean): void {
    this.#all += 1;
    if (inTheMiddle) this.#inTheMiddle += 1;
  }

  /** Says how many there were, and expects that some came in the middle. */
  report(more = ''): void {
    console.log(`      ${this.#of}: ${this.#all} kills, ${this.#inTheMiddle} in the middle${more}`);
    expect(this.#inTheMiddle, `kills in the middle of ${this.#of}`).to.be.greaterThan(0);
  }
}
