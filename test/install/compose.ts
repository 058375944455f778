import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export type Variables = Readonly<Record<string, string>>;

export interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly profiles?: readonly string[];
  readonly init?: boolean;
  readonly stop_grace_period: string;
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  /** Null: as it is set where compose is run, else unset. */
  readonly environment: Readonly<Record<string, string | null>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string; readonly required: boolean }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

export interface Compose {
  readonly services: Readonly<Record<'spanhouse' | 'clickhouse' | 'prometheus' | 'grafana', Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export const readRoot = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** `docker-compose.yml` as compose reads it where these variables are set. */
export function composed(variables: Variables = {}): Compose {
  return parse(readRoot('docker-compose.yml'), (_, value: unknown) =>
    typeof value === 'string' ? interpolated(value, variables) : value,
  ) as Compose;
}

/** The environment of a service's process. */
export function environmentOf({ environment }: Service, variables: Variables = {}): Record<string, string> {
  const given = Object.entries(environment).map(([name, value]) => [name, value ?? variables[name]]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

/** `${NAME:-default}` and `${NAME:+instead}`, innermost first. */
function interpolated(text: string, variables: Variables): string {
  const next = text.replace(/\$\{(\w+)(:[-+])([^${}]*)\}/g, (_, name: string, kind: string, word: string) => {
    const value = variables[name] ?? '';
    if (kind === ':-') return value === '' ? word : value;
    return value === '' ? '' : word;
  });
  return next === text ? text : interpolated(next, variables);
}

export interface Instruction {
  readonly name: string;
  readonly words: readonly string[];
}

/** The stages of a Dockerfile, each beginning with its FROM. */
export function stagesIn(dockerfile: string): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const line of dockerfile.replaceAll('\\\n', ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name = '', ...words] = line.trim().split(/\s+/);
    if (name === 'FROM') stages.push([]);
    stages.at(-1)?.push({ name, words });
  }
  return stages;
}
