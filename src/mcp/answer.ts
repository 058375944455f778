import type { IncomingHttpHeaders } from 'node:http';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { SerializedResult } from '../http/route.js';
import { mcpServer, type McpParts } from './server.js';

/** Headers that the protocol looks at. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'];

/** Answers one message of the streamable HTTP transport, of which nothing is kept: its answer is JSON. */
export async function answerMcp(
  parts: McpParts,
  sent: IncomingHttpHeaders,
  message: unknown,
): Promise<SerializedResult> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = mcpServer(parts);
  await server.connect(transport);
  try {
    const headers = HEADERS.flatMap((name) =>
      sent[name] === undefined ? [] : [[name, [sent[name]].flat().join(', ')]],
    );
    const request = new Request('http://mcp.invalid/mcp', {
      method: 'POST',
      headers: Object.fromEntries(headers) as Record<string, string>,
    });
    const answer = await transport.handleRequest(request, { parsedBody: message });
    const contentType = answer.headers.get('content-type') ?? 'application/json';
    return { status: answer.status, content: await answer.text(), contentType };
  } finally {
    await server.close();
  }
}
