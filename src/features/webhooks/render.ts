import { createHmac } from 'node:crypto';
import type { DueDelivery } from './webhook.js';
import type { DeliveryBody } from './webhook.js';

/** Header of the signature: `t=<Unix seconds>,v1=<hex>`. */
export const SIGNATURE_HEADER = 'Spanhouse-Signature';

/** A request to a destination. */
export interface Rendered {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The secret of a destination, which follows from the server's own: it is nowhere stored. */
export function secretOf(
  serverSecret: Buffer,
  { id, generation }: { readonly id: string; readonly generation: number },
) {
  const hash = createHmac('sha256', serverSecret).update(`webhook/${id}/${generation}`).digest('base64url');
  return `whsec_${hash}`;
}

/** HMAC-SHA256 over the time, a dot and the body: no one can send an old request again as a new one. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  const hash = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${hash}`;
}

/** What a destination is sent. @param secret null: its kind is not signed */
export function rendered({ event, body, webhook }: DueDelivery, secret: string, now: number): Rendered {
  const common = { 'content-type': 'application/json', 'user-agent': 'spanhouse' };
  if (webhook.kind === 'slack') return { headers: common, body: JSON.stringify({ text: slackText(bodyOf(body)) }) };
  const { id } = bodyOf(body);
  const signature = signatureOf(secret, Math.floor(now / 1000), body);
  return {
    headers: {
      ...common,
      'spanhouse-event': event,
      'spanhouse-event-id': id,
      [SIGNATURE_HEADER.toLowerCase()]: signature,
    },
    body,
  };
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

/** One line, as a subject has to be. */
const LONGEST_SUBJECT = 200;

export function mailOf({ body }: DueDelivery): Mail {
  const { summary, type, created_at, project_id, data, url } = bodyOf(body);
  const lines = Object.entries(data).map(([name, value]) => `${name}: ${String(value)}`);
  const subject = `[Spanhouse] ${summary}`
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .slice(0, LONGEST_SUBJECT)
    .toWellFormed();
  return {
    subject,
    text: [
      ...[summary, ...(url === undefined ? [] : ['', url]), ''],
      ...[`${type} at ${created_at}`, `project_id: ${project_id}`, ...lines, ''],
    ].join('\n'),
  };
}

const bodyOf = (body: string) => JSON.parse(body) as DeliveryBody;

/** Names of clients must mention no one, and link to nothing. */
function slackText({ type, summary, url }: DeliveryBody): string {
  const escaped = summary.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  return `*${type}* ${escaped}${url === undefined ? '' : ` <${url}|Open in Spanhouse>`}`;
}
