import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { Audit, Suspect } from '../../engine/traces/model/check/audit.js';
import { FLAWS, type FlawName } from '../../engine/traces/model/check/flaws.js';
import { restMs } from '../../engine/work/governor.js';

export interface Finding {
  readonly flaw: FlawName;
  readonly what: string;
  readonly count: number;
  /** How many of them were repaired. */
  readonly mended: number;
  readonly examples: readonly Pick<Suspect, 'project' | 'id' | 'detail'>[];
  readonly todo: string;
}

export interface Checked {
  readonly title: string;
  readonly unit: string;
  readonly checked: number;
  readonly total: number;
  /** Things that were written to each time they were looked at, or that could not be looked at. */
  readonly undecided: number;
  /** Why it ended before its end; null: it did not. */
  readonly failure: string | null;
}

export interface CheckReport {
  readonly findings: readonly Finding[];
  readonly audits: readonly Checked[];
}

export interface CheckParts {
  readonly audits: readonly Audit[];
  /** Others may be writing: resolves when what they have written is in the figures. Absent: no one writes. */
  readonly settle?: () => Promise<void>;
  /** Whether it pauses as long as it works, as others need the stores. */
  readonly pauses: boolean;
  /** Whether it repairs what it can. */
  readonly repair: boolean;
  /** Told of each audit that begins; what it returns is told how far it is, and that it ended. */
  readonly onAudit: (audit: Audit, total: number) => { update(checked: number): void; stop(): void };
}

const EXAMPLES = 5;
/** Looks at something that is written to each time. */
const LOOKS = 4;

/** Runs audits one after another. */
export async function check(parts: CheckParts): Promise<CheckReport> {
  const tallies = new Map<FlawName, Tally>();
  const audits: Checked[] = [];
  for (const audit of parts.audits) audits.push(await run(audit, parts, tallies));
  return { findings: [...tallies].map(([flaw, tally]) => tally.finding(flaw)), audits };
}

async function run(audit: Audit, parts: CheckParts, tallies: Map<FlawName, Tally>): Promise<Checked> {
  const { title, unit } = audit;
  let total = 0;
  let checked = 0;
  let undecided = 0;
  let failure: string | null = null;
  let progress: ReturnType<CheckParts['onAudit']> | undefined;
  try {
    total = await audit.total();
    progress = parts.onAudit(audit, total);
    let began = performance.now();
    for await (const page of audit.pages()) {
      const confirmed = await confirm(audit, page.suspects, parts.settle);
      undecided += confirmed.undecided + (page.skipped ?? 0);
      const mended = parts.repair ? await mend(audit, confirmed.suspects) : new Set<string>();
      for (const suspect of confirmed.suspects)
        tallyOf(tallies, suspect.flaw).add(suspect, mended.has(nameOf(suspect)));
      const [first] = confirmed.suspects;
      // Where none of those that are listed is wrong after all, the others may be right as well.
      if (first === undefined) undecided += page.unlisted ?? 0;
      // A repair continues with them as soon as the others are repaired.
      else if (!parts.repair) tallyOf(tallies, first.flaw).unlisted += page.unlisted ?? 0;
      checked += page.checked;
      progress.update(checked);
      if (parts.pauses) await sleep(restMs('upkeep', performance.now() - began));
      began = performance.now();
    }
  } catch (error) {
    // What cannot be read for one audit, such as damaged files, leaves the others something to say.
    failure = reasonOf(error);
  } finally {
    progress?.stop();
  }
  return { title, unit, checked, total: Math.max(total, checked), undecided, failure };
}

/** With what a store itself said. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = error instanceof DomainError && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error.message + said;
}

/** Leaves out what only looked wrong, as it was being written to. */
async function confirm(
  audit: Audit,
  suspects: readonly Suspect[],
  settle: CheckParts['settle'],
): Promise<{ suspects: readonly Suspect[]; undecided: number }> {
  if (settle === undefined || audit.again === undefined || suspects.length === 0) return { suspects, undecided: 0 };
  const confirmed: Suspect[] = [];
  let open = suspects;
  for (let look = 1; look < LOOKS && open.length > 0; look += 1) {
    await settle();
    const names = new Set(open.map(nameOf));
    const states = new Set(open.map(stateOf));
    const still = (await audit.again(open)).filter((suspect) => names.has(nameOf(suspect)));
    confirmed.push(...still.filter((suspect) => states.has(stateOf(suspect))));
    open = still.filter((suspect) => !states.has(stateOf(suspect)));
  }
  return { suspects: confirmed, undecided: open.length };
}

/** @returns names of what is right now */
async function mend(audit: Audit, suspects: readonly Suspect[]): Promise<ReadonlySet<string>> {
  const mendable = suspects.filter(({ flaw }) => FLAWS[flaw].mendable);
  if (mendable.length === 0 || audit.mend === undefined || audit.again === undefined) return new Set();
  await audit.mend(mendable);
  const left = new Set((await audit.again(mendable)).map(nameOf));
  return new Set(mendable.map(nameOf).filter((name) => !left.has(name)));
}

function nameOf({ flaw, project, id }: Suspect): string {
  return [flaw, project, id].join('\n');
}

function stateOf(suspect: Suspect): string {
  return [nameOf(suspect), suspect.state].join('\n');
}

function tallyOf(tallies: Map<FlawName, Tally>, flaw: FlawName): Tally {
  const tally = tallies.get(flaw) ?? new Tally();
  tallies.set(flaw, tally);
  return tally;
}

/** What was found of one kind. */
class Tally {
  readonly #examples: Finding['examples'][number][] = [];
  #count = 0;
  #mended = 0;
  unlisted = 0;

  add({ project, id, detail, count = 1 }: Suspect, mended: boolean): void {
    this.#count += count;
    if (mended) this.#mended += count;
    if (this.#examples.length < EXAMPLES)
      this.#examples.push({ project, id, ...(detail === undefined ? {} : { detail }) });
  }

  finding(flaw: FlawName): Finding {
    const { what, todo } = FLAWS[flaw];
    return {
      flaw,
      what,
      count: this.#count + this.unlisted,
      mended: this.#mended,
      examples: this.#examples,
      todo,
    };
  }
}
