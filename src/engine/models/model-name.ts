import { calcPrice, findProvider, type Provider } from '@pydantic/genai-prices';

/** A model by its provider, null where that is not known, and by its name there. */
export interface ModelName {
  readonly provider: string | null;
  readonly model: string;
}

/** Says whether a text names a provider. */
export type IsProvider = (name: string) => boolean;

/** Says whose model is meant in a project. @param stated provider as it was stated; null: it was not */
export type NameModel = (projectId: string, stated: string | null, name: string) => ModelName;

/** Provider of a call of an endpoint that is not known. */
export const SOME_ENDPOINT = 'judge-endpoint';

/** Providers that pass calls on: whose a model is says its name alone. */
export const PASSING_ON: ReadonlySet<string> = new Set([SOME_ENDPOINT, 'litellm']);

/** Providers by their names in OpenTelemetry's conventions, where the library knows them by others only. */
const LIBRARY_NAMES: ReadonlyMap<string, string> = new Map([
  ['x_ai', 'x-ai'],
  ['azure.ai.inference', 'azure'],
  ['gcp.gen_ai', 'google'],
]);

/** Longer names are no one's: they are not looked up, and not remembered. */
const MAX_NAME = 512;
/** How many names are remembered; a client's made-up ones must not fill the memory. */
const MAX_REMEMBERED = 10_000;

/** The provider that the library knows by a name or an alias. */
export const listedProvider = remembering((name) => findProvider({ providerId: LIBRARY_NAMES.get(name) ?? name }));

const isListed: IsProvider = (name) => listedProvider(name) !== undefined;

/** The provider that the library knows for a model of this name, which may follow a prefix of an endpoint's own. */
const listedProviderOf = remembering(
  (model) => findProvider({ modelId: model }) ?? findProvider({ modelId: model.slice(model.lastIndexOf('/') + 1) }),
);

/**
 * Whose model is meant, and its name there. `openai/gpt-4o`, `gpt-4o` and either of them of the provider `openai` are one
 * model. A slash behind anything but a provider is part of the name, as in `meta-llama/Llama-3-8B`; so is one behind
 * another provider than the one that is stated, as in `openai/gpt-4o` of `openrouter`.
 * @param stated provider as it was stated, null: it was not
 */
export function modelNameOf(stated: string | null, name: string, isProvider: IsProvider = isListed): ModelName {
  if (stated !== null && !passesOn(stated)) return nameAt(stated, name);
  const [prefix, rest] = split(name);
  if (prefix !== null && isProvider(prefix)) return nameAt(prefix, rest);
  return { provider: listedProviderOf(name)?.id ?? stated, model: name };
}

/** The name of a model at a provider: without that provider's name in front, however often it stands there. */
export function nameAt(provider: string, name: string): { readonly provider: string; readonly model: string } {
  for (let model = name; ;) {
    const [prefix, rest] = split(model);
    if (prefix === null || !isSame(prefix, provider)) return { provider, model };
    model = rest;
  }
}

/** Whether a provider says nothing of whose a model is. */
export function passesOn(provider: string): boolean {
  return PASSING_ON.has(provider.toLowerCase());
}

/**
 * How an endpoint is sent the names of models. `plain`: without the name of a provider in front. `full`: with it. `auto`:
 * without it where the endpoint is that provider's own, else as written.
 */
export const NAME_FORMS = ['auto', 'plain', 'full'] as const;
export type NameForm = (typeof NAME_FORMS)[number];

/** The name by which the endpoint at a URL knows a model. */
export function nameForEndpoint(baseUrl: string, form: NameForm, name: string): string {
  const [prefix] = split(name);
  const { provider, model } = modelNameOf(null, name);
  if (form === 'full') return prefix !== null || provider === null ? name : `${provider}/${name}`;
  if (prefix === null || !isListed(prefix)) return name;
  if (form === 'plain') return model;
  const endpoint = findProvider({ providerApiUrl: baseUrl });
  return endpoint !== undefined && endpoint === listedProvider(prefix) && isNameAt(endpoint, model) ? model : name;
}

/** Whether a name can be that of a model at a provider. Where names hold slashes, only those that are known. */
function isNameAt(provider: Provider, model: string): boolean {
  return !provider.models.some(({ id }) => id.includes('/')) || calcPrice({}, model, { provider }) !== null;
}

function split(name: string): readonly [prefix: string | null, rest: string] {
  const slash = name.length > MAX_NAME ? -1 : name.indexOf('/');
  if (slash <= 0 || slash === name.length - 1) return [null, name];
  return [name.slice(0, slash), name.slice(slash + 1)];
}

function isSame(one: string, other: string): boolean {
  if (one.toLowerCase() === other.toLowerCase()) return true;
  const listed = listedProvider(one);
  return listed !== undefined && listed === listedProvider(other);
}

function remembering(look: (name: string) => Provider | undefined): (name: string) => Provider | undefined {
  const remembered = new Map<string, Provider | undefined>();
  return (given) => {
    if (given === '' || given.length > MAX_NAME) return undefined;
    const name = given.toLowerCase();
    if (remembered.has(name)) return remembered.get(name);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    const found = look(name);
    remembered.set(name, found);
    return found;
  };
}
