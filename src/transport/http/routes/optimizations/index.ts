import type { OptimizationService } from '../../../../domain/learning/optimization/optimization-service.js';
import type { Route } from '../../route.js';
import { cancelOptimizationRoute } from './cancel-optimization.js';
import { createOptimizationRoute } from './create-optimization.js';
import { getOptimizationRoute } from './get-optimization.js';
import { getReadinessRoute } from './get-readiness.js';
import { listOptimizationsRoute } from './list-optimizations.js';
import { promoteCandidateRoute } from './promote-candidate.js';

/** Better versions of prompts, from feedback. */
export function optimizationRoutes(optimizations: OptimizationService): Route[] {
  return [
    createOptimizationRoute(optimizations),
    listOptimizationsRoute(optimizations),
    getReadinessRoute(optimizations),
    getOptimizationRoute(optimizations),
    promoteCandidateRoute(optimizations),
    cancelOptimizationRoute(optimizations),
  ];
}
