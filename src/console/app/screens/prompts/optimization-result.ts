import type { OptimizationRead } from '../../../../features/optimization/http/schema.js';

export type Result = NonNullable<OptimizationRead['result']>;

export type Candidate = Result['candidates'][number];
