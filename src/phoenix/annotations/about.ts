import { Type } from '@sinclair/typebox';
import { spanUuid, traceUuid } from '../../engine/schema/ids.js';
import { label } from '../../engine/schema/inputs.js';
import { sessionNamed } from '../../otlp/session-id.js';

const hex = (length: number, description: string) =>
  Type.String({
    pattern: `^(?!0+$)[0-9a-fA-F]{${length}}$`,
    'x-must': `be ${length} hexadecimal digits, not all of them 0`,
    description,
  });

/** What annotations may be about: how clients name it, and which id it has here; null: none. */
export const ABOUT = {
  span: {
    named: hex(16, 'Id of the span, as OpenTelemetry has it.'),
    idOf: (text: string) => spanUuid(text.toLowerCase()),
  },
  trace: {
    named: hex(32, 'Id of the trace, as OpenTelemetry has it.'),
    idOf: (text: string) => traceUuid(text.toLowerCase()),
  },
  session: {
    named: label('Id of the session, as the application names it.', 1),
    idOf: (text: string) => sessionNamed(text)?.id ?? null,
  },
} as const;

export type What = keyof typeof ABOUT;
export const WHATS = Object.keys(ABOUT) as What[];

/** The same word at the beginning of a name. */
export const capital = (what: What): string => `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
