/** A bare Express route that answers a constant body: what a server in this language costs when it does nothing. */
import type { AddressInfo } from 'node:net';
import express from 'express';

const [body = '', etag = 'true'] = process.argv.slice(2);
const app = express();
if (etag !== 'true') app.disable('etag');
app.get('/v1/prompts/:prompt_slug', (_request, response) => {
  response.type('application/json').send(body);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`Express is ready at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
