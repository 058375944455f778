import { randomBytes } from 'node:crypto';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Maskers } from './maskers.js';
import type { MaskingRules, MaskingStore } from './rule.js';
import { ruleIssues, rulesOf } from './rule-issues.js';
import type { MaskingRuleInput } from './schema.js';

export interface MaskingServiceParts {
  readonly store: MaskingStore;
  readonly maskers: Pick<Maskers, 'forget'>;
  readonly audit: AuditLog;
}

const NEVER: MaskingRules = { version: 0, rules: [], updated_at: null };
const KEY_BYTES = 32;

/** The masking rules of projects. */
export class MaskingService {
  readonly #parts: MaskingServiceParts;

  constructor(parts: MaskingServiceParts) {
    this.#parts = parts;
  }

  get(projectId: string): MaskingRules {
    return this.#parts.store.find(projectId) ?? NEVER;
  }

  /** Puts rules in place of those that there are. They hold for whatever comes in from now on. @throws DomainError `invalid` */
  set(by: Principal, inputs: readonly MaskingRuleInput[]): MaskingRules {
    const { store, maskers, audit } = this.#parts;
    const { project_id } = by;
    const rules = rulesOf(inputs);
    const issues = ruleIssues(rules);
    if (issues.length > 0) throw invalid(issues);
    const known = this.get(project_id);
    if (JSON.stringify(known.rules) === JSON.stringify(rules)) return known;
    audit.together(() => {
      store.put(project_id, rules, { at: Date.now() * 1000, key: randomBytes(KEY_BYTES) });
      audit.done({ event: 'maskingSet', by, project_id });
    });
    maskers.forget(project_id);
    return this.get(project_id);
  }
}
