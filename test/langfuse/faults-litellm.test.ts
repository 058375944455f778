import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { pythonWith, requireInstalled } from '../harness/foreign-packages.js';
import { bootServer, type TestServer } from '../harness/server.js';

const execute = promisify(execFile);
const { python, install } = pythonWith({
  folder: 'spanhouse-test-litellm-1.110.2',
  packages: ['litellm==1.110.2', 'langfuse==2.60.10'],
  check: 'import litellm, langfuse',
});

/** The callback needs no model: LiteLLM answers itself. */
const PROGRAM = `
import litellm
litellm.success_callback = litellm.failure_callback = ["langfuse"]
def ask(model, **more):
    named = {"trace_id": "lite-1", "trace_name": "checkout", "session_id": "shop-1", "trace_user_id": "ann", "tags": ["beta"]}
    messages = [{"role": "user", "content": "Where?"}]
    return litellm.completion(model=model, messages=messages, metadata={**named, "generation_name": "answer"}, **more)
ask("gpt-4o", mock_response="Here.")
try:
    ask("gpt-4o-mini", mock_response=Exception("no answer"), num_retries=0)
except Exception:
    pass
`;

describe("LiteLLM's callback for Langfuse, unchanged", function () {
  this.timeout(400_000);
  let server: TestServer;
  before(async function () {
    await requireInstalled(this, install());
    server = await bootServer();
  });
  after(() => server?.dispose());

  it('sends calls with their answers, tokens and costs, and those that failed', async () => {
    const env = {
      ...{ PATH: process.env['PATH'], LITELLM_LOCAL_MODEL_COST_MAP: 'True', LANGFUSE_HOST: server.url },
      ...{ LANGFUSE_PUBLIC_KEY: `pk-sh-${server.projectId}`, LANGFUSE_SECRET_KEY: server.key },
    };
    const { stderr } = await execute(python, ['-c', PROGRAM], { env });
    const { json } = await server.request('GET', '/spans?kind=llm&sort_by=started_at&sort_order=asc');
    expect(json, stderr).to.have.length(2);
  });
});
