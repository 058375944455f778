import { runSpanhouse, type Run, type Scene } from '../harness/spanhouse-program.js';

export type { Run } from '../harness/spanhouse-program.js';

/** Runs `spanhouse ci` as CI does. */
export function runCi(args: readonly string[], scene: Scene & { readonly cwd: string }): Promise<Run> {
  return runSpanhouse(['ci', ...args], scene);
}
