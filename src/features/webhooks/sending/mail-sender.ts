import { unlessAborted } from '../../../engine/work/unless-aborted.js';
import type { Mail } from '../render.js';
import { RefusedForGood } from '../webhook-loop.js';

export interface MailSettings {
  /** `smtp://` or `smtps://`, perhaps with user and password. */
  readonly url: string;
  readonly from: string;
}

/** How long a mail server may say nothing. */
const DEADLINE_MS = 10_000;
/** In times of it: how long one mail may take. */
const SLOWEST = 6;

/** What a mail server is told of one mail: that it refuses for good. Before, it refuses the operator, who may mend it. */
const OF_THE_MAIL = ['RCPT TO', 'DATA'];

/** Without what a mail server says of itself: that is the operator's. */
function refusalOf(error: unknown): Error {
  const { responseCode: code = 0, command = '' } = error as {
    readonly responseCode?: number;
    readonly command?: string;
  };
  if (code >= 500 && OF_THE_MAIL.includes(command))
    return new RefusedForGood(`The mail server refused the mail for good (${code})`, { cause: error });
  const said = code === 0 ? 'could not be used' : `did not take the mail (${code})`;
  return new Error(`The mail server ${said}; the operator finds why in the server log`, { cause: error });
}

/** Sends email by the operator's server. The library is imported for the first mail. */
export function createMailSender({ url, from }: MailSettings, deadlineMs = DEADLINE_MS) {
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const waits = { connectionTimeout: deadlineMs, greetingTimeout: deadlineMs, socketTimeout: deadlineMs };
    return createTransport({ ...waits, url, disableFileAccess: true, disableUrlAccess: true }, { from });
  };
  let opened: ReturnType<typeof open> | undefined;
  return {
    async send(to: string, { subject, text }: Mail): Promise<void> {
      const transport = await (opened ??= open());
      try {
        // An address alone: nothing that a mailbox list could smuggle in.
        const sent = transport.sendMail({ to: { name: '', address: to }, subject, text });
        // A server that says a little from time to time holds up no other mail, either.
        await unlessAborted(sent, AbortSignal.timeout(deadlineMs * SLOWEST));
      } catch (error) {
        throw refusalOf(error);
      }
    },
    async close(): Promise<void> {
      if (opened !== undefined) (await opened).close();
    },
  };
}
