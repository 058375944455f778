import { KEY_ACCESSES, scopesOf } from '../../src/engine/identity/key-access.js';
import { leastRole, ROLE_NAMES, scopesOfRole } from '../../src/engine/identity/roles.js';
import { explainScope, SCOPE_NAMES, type Scope } from '../../src/engine/identity/scopes.js';

interface Operation {
  readonly 'x-scopes'?: readonly Scope[];
}

/** The part of an OpenAPI document that says what calls need. */
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Tables in Markdown: scopes by access level, and the scopes of every call. */
export function keyScopes(document: unknown): string {
  const { paths } = document as Described;
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { 'x-scopes': needed }]) =>
      needed === undefined ? [] : [{ call: `${method.toUpperCase()} ${path}`, needed }],
    ),
  );
  const anyKey = calls.filter(({ needed }) => needed.length === 0).map(({ call }) => code(call));
  const levels = KEY_ACCESSES.filter((access) => access !== 'full');
  const scopes = SCOPE_NAMES.map((scope) => {
    const marks = levels.map((access) => (scopesOf(access).includes(scope) ? 'yes' : ''));
    return [code(scope), explainScope(scope), ...marks];
  });
  const scoped = calls
    .filter(({ needed }) => needed.length > 0)
    .map(({ call, needed }) => {
      const may = levels.filter((access) => needed.every((scope) => scopesOf(access).includes(scope)));
      return [code(call), needed.map(code).join(', '), ['full', ...may].join(', '), leastRole(needed)];
    });
  return [
    table(['Scope', 'What it opens', ...levels.map(code)], scopes),
    `Any key may call ${anyKey.join(' and ')}. The other calls, with the scopes that they need (all of them), the access levels that have these, and the lowest [role](people.md#choose-a-role) that does:`,
    table(['Call', 'Scopes', 'Access levels', 'Role'], scoped),
  ].join('\n\n');
}

/** A table in Markdown: what each role may do, by scopes. */
export function roleScopes(): string {
  const rows = SCOPE_NAMES.map((scope) => {
    const marks = ROLE_NAMES.map((role) => (scopesOfRole(role).includes(scope) ? 'yes' : ''));
    return [code(scope), explainScope(scope), ...marks];
  });
  const rest = [['', 'give or take the role owner', ...ROLE_NAMES.map((role) => (role === 'owner' ? 'yes' : ''))]];
  return table(['Scope', 'What it opens', ...ROLE_NAMES.map(code)], [...rows, ...rest]);
}

const code = (text: string) => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '-'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
