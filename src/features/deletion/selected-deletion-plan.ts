import { createHmac, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import type { Micros } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { SelectedInput } from './selected-deletion-job.js';

/** How long what was shown may be confirmed. */
export const PLAN_LIFETIME_SECONDS = 3600;

/** A text that says what was found, which only this installation can have written for a project. */
export class PlanSigner {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  sign(projectId: string, plan: SelectedInput): string {
    const text = Buffer.from(JSON.stringify(plan)).toString('base64url');
    return `${text}.${this.#signature(projectId, text).toString('base64url')}`;
  }

  /** @throws DomainError `invalid` for a text that is none of the project; `conflict` when it is too old */
  read(projectId: string, confirm: string, now: Micros): SelectedInput {
    const [text = '', signature = ''] = confirm.split('.');
    const [given, expected] = [Buffer.from(signature, 'base64url'), this.#signature(projectId, text)];
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      throw invalid([{ pointer: '/confirm', detail: 'must be the `confirm` of a dry run in this project' }]);
    const plan = JSON.parse(Buffer.from(text, 'base64url').toString()) as SelectedInput;
    if (now - plan.found.upTo > PLAN_LIFETIME_SECONDS * 1e6)
      throw new DomainError('conflict', 'The dry run is more than an hour old: make another one');
    return plan;
  }

  #signature(projectId: string, text: string): Buffer {
    return createHmac('sha256', this.#secret).update(`deletion\n${projectId}\n${text}`).digest();
  }
}
