import type { Mail } from '../render.js';

export interface MailSettings {
  /** `smtp://` or `smtps://`, perhaps with user and password. */
  readonly url: string;
  readonly from: string;
}

const DEADLINE_MS = 10_000;

/** Sends email by the operator's server. The library is imported for the first mail. */
export function createMailSender({ url, from }: MailSettings) {
  const open = async () => {
    const { createTransport } = await import('nodemailer');
    const waits = { connectionTimeout: DEADLINE_MS, greetingTimeout: DEADLINE_MS, socketTimeout: DEADLINE_MS };
    return createTransport({ ...waits, url, disableFileAccess: true, disableUrlAccess: true }, { from });
  };
  let opened: ReturnType<typeof open> | undefined;
  return {
    async send(to: string, { subject, text }: Mail): Promise<void> {
      const transport = await (opened ??= open());
      try {
        // An address alone: nothing that a mailbox list could smuggle in.
        await transport.sendMail({ to: { name: '', address: to }, subject, text });
      } catch (error) {
        throw new Error('The mail server did not take the mail; the operator finds why in the server log', {
          cause: error,
        });
      }
    },
    async close(): Promise<void> {
      if (opened !== undefined) (await opened).close();
    },
  };
}
