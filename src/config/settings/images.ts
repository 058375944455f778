import { Type } from '@sinclair/typebox';
import { choice, HOST_AND_PORT, HTTP_URL, text } from './kinds.js';

/** Where images come from and are kept. */
export const imageSettings = {
  ATTACHMENT_FETCH_HOSTS: text({
    default: '',
    pattern: `^(${HOST_AND_PORT}(\\s*,\\s*${HOST_AND_PORT})*)?$`,
    must: 'be host names, each with a port unless it is the default one, separated by commas',
    defaultText: 'none',
    description:
      'Hosts from which Spanhouse copies images that spans name by URL, such as ' +
      '`images.example.com,cdn.example.com:8443`. Nothing is fetched from other hosts or from private addresses.',
  }),
  S3_BUCKET: Type.Optional(
    text({
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      must: 'be the name of a bucket',
      description:
        'S3 bucket for images, one for each server. Unset: `DATA_DIR/attachments`. Credentials come from where the ' +
        'AWS SDK looks for them.',
    }),
  ),
  S3_ENDPOINT: Type.Optional(
    text({
      pattern: HTTP_URL,
      must: 'be the http:// or https:// URL of a server that speaks S3',
      defaultText: 'Amazon S3',
      description: 'URL of the S3-compatible server for `S3_BUCKET`.',
    }),
  ),
  S3_REGION: text({ default: 'us-east-1', description: 'Region of `S3_BUCKET`.' }),
  S3_FORCE_PATH_STYLE: choice(['true', 'false'], {
    default: 'false',
    description:
      'Whether URLs name `S3_BUCKET` in the path instead of the host name, as many S3-compatible servers require.',
  }),
};
