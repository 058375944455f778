import { explainScope, SCOPE_NAMES, type Scope } from '../../../../engine/identity/scopes.js';
import { whoami } from '../../state/session.js';

interface ScopeChoiceProps {
  readonly chosen: ReadonlySet<Scope>;
  readonly onChoose: (scopes: ReadonlySet<Scope>) => void;
}

/** The scopes of a key, one by one; no one gives what their own key lacks. */
export function ScopeChoice({ chosen, onChoose }: ScopeChoiceProps) {
  const own = whoami.value?.key.scopes ?? [];
  const set = (scope: Scope, isChosen: boolean) => {
    const others = [...chosen].filter((each) => each !== scope);
    onChoose(new Set(isChosen ? [...others, scope] : others));
  };
  return (
    <fieldset class="stack scopes">
      <legend>Scopes</legend>
      {SCOPE_NAMES.filter((scope) => own.includes(scope)).map((scope) => (
        <label key={scope} class="line">
          <input
            type="checkbox"
            checked={chosen.has(scope)}
            onChange={(event) => set(scope, event.currentTarget.checked)}
          />
          <span>
            <code>{scope}</code>: {explainScope(scope)}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
