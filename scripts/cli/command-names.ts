import type { ApiCall } from '../../src/http/api-calls.js';

/** What the commands of calls are called, by the ids of these. */
export function commandNames(calls: Iterable<ApiCall>): ReadonlyMap<string, string> {
  const all = [...calls];
  const lists = new Map(all.map((call) => [call.path, call]));
  return new Map(all.map((call) => [call.id, nameOf(call, lists)]));
}

/** `listTraces`: traces. `getTrace`: trace. `GET /traces:stats`: traces:stats. Others: what they do, as `explain-cost`. */
function nameOf({ id, path }: ApiCall, lists: ReadonlyMap<string, ApiCall>): string {
  const [, collection = '', verb] = /^(.*):([a-z_]+)$/.exec(path) ?? [];
  const list = lists.get(collection);
  if (verb !== undefined && list !== undefined) return `${nameOf(list, lists)}:${verb}`;
  const [, noun] = /^(?:list|get)([A-Z].*)$/.exec(id) ?? [];
  if (noun === undefined && /^\/[a-z]+$/.test(path)) return path.slice(1);
  return kebab(noun ?? id);
}

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}
