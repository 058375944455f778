import { Type } from '@sinclair/typebox';
import { count } from '../engine/schema/parts.js';
import { defineRoute } from '../http/route.js';
import { BASE, TAG } from './tag.js';

/** What clients compare with what they need: the version of LangSmith whose calls are served. */
const SERVED_VERSION = '0.13.0';

/** Runs and bytes that clients send together. A single run may have more. */
const TOGETHER = { runs: 100, bytes: 4 * 1024 * 1024 };

const flag = (description: string) => Type.Boolean({ description });
const Info = Type.Object(
  {
    version: Type.String({ description: 'Version of LangSmith whose calls are served.' }),
    server_version: Type.String({ description: 'Version of this server.' }),
    batch_ingest_config: Type.Object(
      {
        use_multipart_endpoint: flag('Whether clients send multipart bodies of their own accord.'),
        scale_up_qsize_trigger: count('Runs waiting in a client at which it adds a thread.'),
        scale_up_nthreads_limit: count('Most threads of a client.'),
        scale_down_nempty_trigger: count('Empty rounds after which a thread of a client ends.'),
        size_limit: count('Most runs that a client sends together.'),
        size_limit_bytes: count('Most bytes that a client sends together.'),
      },
      { description: 'How clients send runs.' },
    ),
    instance_flags: Type.Object(
      {
        dataset_examples_multipart_enabled: flag('Whether examples are sent as multipart bodies.'),
        gzip_body_enabled: flag('Whether bodies may be compressed by gzip.'),
        zstd_compression_enabled: flag('Whether clients compress multipart bodies by zstd of their own accord.'),
      },
      { description: 'What the server can do.' },
    ),
  },
  { $id: 'LangsmithInfo', description: 'What the server is, as clients of LangSmith read it.' },
);

/** What clients ask first, also before they have a key. @param version of the server */
export function infoRoute(version: string) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/info`,
    operationId: 'getLangsmithInfo',
    summary: 'Get what the server can do (LangSmith)',
    description: 'Clients of LangSmith send runs as this response says.',
    tag: TAG,
    access: 'public',
    responses: { 200: { description: 'What the server can do.', schema: Info } },
    errors: [],
    handle: () => ({ status: 200, body: infoOf(version) }),
  });
}

function infoOf(version: string) {
  return {
    version: SERVED_VERSION,
    server_version: version,
    batch_ingest_config: {
      use_multipart_endpoint: false,
      ...{ scale_up_qsize_trigger: 1000, scale_up_nthreads_limit: 4, scale_down_nempty_trigger: 4 },
      ...{ size_limit: TOGETHER.runs, size_limit_bytes: TOGETHER.bytes },
    },
    instance_flags: {
      dataset_examples_multipart_enabled: true,
      gzip_body_enabled: true,
      zstd_compression_enabled: false,
    },
  };
}
