import type { DeliveryBody } from './webhook.js';

/** Where the console shows what an event is about, by a path from its base: for people who are told of it. */
export function eventPlace({ project_id, type, data }: Pick<DeliveryBody, 'project_id' | 'type' | 'data'>): string {
  const of = (name: string) => encodeURIComponent(String(data[name]).toWellFormed());
  const places: Readonly<Record<DeliveryBody['type'], string>> = {
    'monitor.fired': `monitors/${of('monitor_id')}`,
    'monitor.recovered': `monitors/${of('monitor_id')}`,
    'prompt.tag_moved': `prompts/${of('prompt_slug')}?tab=tags`,
    'judge.corrected': `judges/${of('judge_id')}`,
    'comparison.failed': `comparisons/${of('comparison_id')}`,
    'budget.reached': 'settings?tab=usage',
    test: 'monitors',
  };
  return `/console/p/${project_id}/${places[type]}`;
}
