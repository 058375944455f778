import { Type } from '@sinclair/typebox';
import { text } from './kinds.js';

const RANGE = '[0-9A-Fa-f:.]{2,45}(/[0-9]{1,3})?';

/** Who is told of events, and how. */
export const webhookSettings = {
  WEBHOOK_ALLOWED_ADDRESSES: text({
    default: '',
    pattern: `^(${RANGE}(\\s*,\\s*${RANGE})*)?$`,
    must: 'be IP addresses or ranges, such as 10.1.0.0/16, separated by commas',
    defaultText: 'none',
    description:
      'Private IP addresses and ranges that webhooks of projects may reach, such as `10.1.0.0/16`. Public addresses are always allowed.',
  }),
  SMTP_URL: Type.Optional(
    text({
      pattern: '^smtps?://[^\\s]+$',
      must: 'be an smtp:// or smtps:// URL',
      secret: true,
      description:
        'Mail server for destinations of the kind `email`, such as `smtps://user:password@mail.example.com`.',
    }),
  ),
  SMTP_FROM: Type.Optional(
    text({
      pattern: '^[^\\u0000-\\u001f]{3,300}$',
      must: 'be an email address',
      description: 'Sender of emails, such as `Spanhouse <spanhouse@example.com>`. Also set `SMTP_URL`.',
    }),
  ),
};
