import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model endpoint that passes everything after a fixed time. Arguments: that time in milliseconds. */
const delayMs = Number(process.argv[2] ?? 0);
const verdict = JSON.stringify({ reason: 'The answer says what was asked for.', passed: true, confidence: 0.9 });
const message = { role: 'assistant', content: verdict, refusal: null };
const body = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_225_600,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
});
let underWay = 0;
let most = 0;

const server = createServer((request, response) => {
  if (request.url === '/most') {
    response.end(String(most));
    return;
  }
  underWay += 1;
  most = Math.max(most, underWay);
  request.resume();
  request.once('end', () => {
    setTimeout(() => {
      underWay -= 1;
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        .end(body);
    }, delayMs);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.on('disconnect', () => process.exit(0));
