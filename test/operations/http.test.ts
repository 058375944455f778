import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { readinessRoute } from '../../src/http/operations/readiness.js';
import { bootApp } from '../http/app-harness.js';
import { bootServer, send, type TestServer } from '../harness/server.js';

describe('operations', () => {
  let server: TestServer;
  before(async () => {
    server = await bootServer({ env: { METRICS_TOKEN: 'watch-me' } });
  });
  after(() => server.dispose());

  it('/healthz and /readyz need no key', async () => {
    const health = await server.request('GET', '/healthz', { key: null });
    expect([health.status, health.json]).to.deep.equal([200, { status: 'ok' }]);
    const ready = await server.request('GET', '/readyz', { key: null });
    expect(ready.status).to.equal(200);
    expect(ready.json.status).to.equal('ready');
    expect(ready.json.checks).to.include({ sqlite: 'ok' });
  });

  it('/readyz says which store does not answer, also when it just hangs', async () => {
    const app = await bootApp([
      readinessRoute(
        [
          { name: 'fine', check: () => undefined },
          { name: 'broken', check: () => Promise.reject(new Error('connection refused')) },
          { name: 'hanging', check: () => new Promise(() => undefined) },
        ],
        { baseUrl: () => 'http://localhost', host: '127.0.0.1' },
      ),
    ]);
    const response = await send(`${app.url}/readyz`, 'GET', {});
    await app.stop();
    expect([response.status, response.json]).to.deep.equal([
      503,
      {
        status: 'unavailable',
        checks: { fine: 'ok', broken: 'connection refused', hanging: 'no response within 2 s' },
      },
    ]);
    expect(response.headers.get('retry-after')).to.equal('1');
  }).timeout(5_000);

  it('/metrics needs its token, and counts requests by route', async () => {
    expect((await server.request('GET', '/metrics', { key: null })).status).to.equal(401);
    expect((await server.request('GET', '/metrics')).status).to.equal(401);
    await server.request('GET', `/projects/${server.projectId}/api-keys`);
    const { status, text, headers } = await server.request('GET', '/metrics', { key: 'watch-me' });
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^text\/plain/);
    expect(text).to.include('process_cpu_seconds_total');
    expect(text).to.match(
      /http_request_duration_seconds_count\{method="GET",route="\/projects\/\{project_id\}\/api-keys",status="200"\} 1/,
    );
    expect(text).to.not.include(server.projectId);
  });

  it('/metrics is open when no token is set', async () => {
    const open = await bootServer();
    expect((await open.request('GET', '/metrics', { key: null })).status).to.equal(200);
    await open.dispose();
  });

  it('/docs/api loads nothing from anywhere else', async () => {
    const page = await server.request('GET', '/docs/api', { key: null });
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-type')).to.match(/^text\/html/);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).to.include("default-src 'none'").and.to.include("script-src 'self';");
    expect(policy).to.not.match(/https?:|\*/);
    const parts = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
    expect(parts).to.have.length(4).and.to.include('/docs');
    for (const path of parts) {
      const part = await server.request('GET', path, { key: null });
      expect([path, part.status, part.text.length > 50]).to.deep.equal([path, 200, true]);
    }
  });

  it('/openapi.json is a valid OpenAPI 3.1 document of every route', async () => {
    const { json } = await server.request('GET', '/openapi.json', { key: null });
    const result = await new Validator().validate(structuredClone(json) as Record<string, unknown>);
    expect(result.valid, JSON.stringify(result.errors)).to.equal(true);
    expect(json.openapi).to.match(/^3\.1\./);
    expect(Object.keys(json.paths as object)).to.include.members([
      '/projects/{project_id}/api-keys',
      '/healthz',
      '/openapi.json',
    ]);
    expect(json.components.schemas).to.include.keys('ApiKey', 'Problem');
    const operations = Object.values(json.paths as object).flatMap((path) => Object.values(path as object));
    const ids = operations.map(({ operationId }: { operationId: string }) => operationId);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('every property, parameter and response in it is described', async () => {
    const { json } = await server.request('GET', '/openapi.json', { key: null });
    expect(undescribed(json)).to.deep.equal([]);
  });
});

/** Where the document has a property, parameter or response without a description. @param isNames keys are names, not words of OpenAPI */
function undescribed(node: unknown, path = '', isNames = false): string[] {
  if (Array.isArray(node)) return node.flatMap((item, index) => undescribed(item, `${path}/${index}`));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => {
    const here = `${path}/${key}`;
    const isDescribing = !isNames && ['properties', 'responses', 'parameters'].includes(key);
    const parts = isDescribing ? Object.entries(value as object) : [];
    const missing = parts
      .filter(([, part]: [string, unknown]) => !isDescribed(part as Record<string, unknown>))
      .map(([name]) => `${here}/${name}`);
    return [...missing, ...undescribed(value, here, isDescribing && key === 'properties')];
  });
}

function isDescribed(part: Record<string, unknown>): boolean {
  return '$ref' in part || (typeof part['description'] === 'string' && part['description'].length > 1);
}
