import { membersOf, textOf } from '../members.js';
import type { Step } from '../step.js';
import type { LangfuseApi, PageRead } from './api.js';
import type { Thing } from './shapes.js';

/** A page of prompts with all their versions, oldest first, so that the newest of them is the newest here. */
export async function promptSteps(api: LangfuseApi, page: string | null): Promise<PageRead> {
  const { things, next } = await api.page('/api/public/v2/prompts', {}, page ?? '1');
  return { steps: steps(api, things), next, read: 0 };
}

async function* steps(api: LangfuseApi, prompts: readonly Thing[]): AsyncGenerator<Step> {
  for (const prompt of prompts) {
    const name = textOf(prompt['name']) ?? '';
    const versions = Array.isArray(prompt['versions']) ? prompt['versions'].filter(Number.isInteger) : [];
    for (const version of (versions as number[]).sort((one, other) => one - other)) {
      const path = `/api/public/v2/prompts/${encodeURIComponent(name)}?version=${version}&resolve=false`;
      yield versionStep(await api.get(path), version);
    }
  }
}

function versionStep(found: Thing, version: number): Step {
  const { name, type, prompt, config, labels, tags, commitMessage } = found;
  const what = `prompt ${textOf(name) ?? ''} version ${version}`;
  const body = {
    ...{ name, type, prompt, config: membersOf(config), tags, commitMessage },
    labels: Array.isArray(labels) ? labels.filter((label) => label !== 'latest') : [],
  };
  return {
    type: 'request',
    request: {
      ...{ path: '/api/public/v2/prompts', body: JSON.stringify(body), tally: { prompts: 1 }, name: what, alone: true },
      refusals: (answer) => {
        const number = membersOf(answer)['version'];
        if (number === version) return [];
        const why = `it is version ${String(number)} here: versions before it were deleted, or have the same content as others`;
        return [{ what, why, tally: {} }];
      },
    },
  };
}
