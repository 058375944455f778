import { signal } from '@preact/signals';

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

/** What happened lately: shown for some seconds, and read out. */
export const notices = signal<readonly Notice[]>([]);

const SHOWN_MS = 6000;
let last = 0;

export function announce(text: string, { bad = false } = {}): void {
  const notice = { id: ++last, text, bad };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => (notices.value = notices.value.filter(({ id }) => id !== notice.id)), bad ? 2 * SHOWN_MS : SHOWN_MS);
}

/** Says why something failed. */
export function announceError(error: unknown): void {
  announce(error instanceof Error ? error.message : String(error), { bad: true });
}

/** Copies a text, and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
  } catch {
    announce(`${what} not copied: copying requires HTTPS or localhost`, { bad: true });
  }
}
