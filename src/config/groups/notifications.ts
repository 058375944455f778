import type { Settings } from '../settings.js';

/** Whom the server may call or mail by itself. */
export function notificationGroup(settings: Settings) {
  return {
    /** Addresses and ranges that are not public. */
    webhookAddresses: settings.WEBHOOK_ALLOWED_ADDRESSES.split(',')
      .map((range) => range.trim())
      .filter((range) => range !== ''),
    /** Null: no mail is sent. */
    mail:
      settings.SMTP_URL === undefined || settings.SMTP_FROM === undefined
        ? null
        : { url: settings.SMTP_URL, from: settings.SMTP_FROM },
  };
}
