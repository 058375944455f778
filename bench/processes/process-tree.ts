import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory of a process and of all below it, added up, in bytes: what they share counts in each. Linux only. */
export function memoryOfTree(root: number): number {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? parentOf(Number(entry)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const below = (pid: number): number =>
    residentOf(pid) + (children.get(pid) ?? []).reduce((sum, child) => sum + below(child), 0);
  return below(root);
}

function parentOf(pid: number): number | undefined {
  // The name in parentheses may hold blanks; the parent is the second field after it.
  const parent = textOf(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1];
  return parent === undefined ? undefined : Number(parent);
}

function residentOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1];
  return kib === undefined ? 0 : Number(kib) * 1024;
}

/** Empty when the process has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
