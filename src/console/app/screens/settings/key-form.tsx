import { useState } from 'preact/hooks';
import type { ApiKeyCreated } from '../../../../features/api-keys/http/schema.js';
import { ACCESS_NAMES, DEFAULT_KEY_ACCESS, scopesOf, type AccessName } from '../../../../engine/identity/key-access.js';
import { SCOPE_NAMES, type Scope } from '../../../../engine/identity/scopes.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { announce } from '../../state/announce.js';
import { call, ofProject } from '../../state/api.js';
import { changedAt } from '../../state/query.js';
import { AccessChoice } from './access-choice.js';
import { ScopeChoice } from './scope-choice.js';

interface KeyFormProps {
  readonly onMade: (key: ApiKeyCreated) => void;
  readonly onCancel: () => void;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 3_650;

export function KeyForm({ onMade, onCancel }: KeyFormProps) {
  const [name, setName] = useState('');
  const [access, setAccess] = useState<AccessName>(DEFAULT_KEY_ACCESS);
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set());
  const [days, setDays] = useState('');
  const wrongDays = days === '' || isDays(days) ? null : `Enter a whole number from 1 to ${MAX_DAYS}, or leave empty`;
  const choose = (chosen: AccessName) => {
    // The scopes to begin with are those that were chosen by name.
    if (chosen === 'custom' && access !== 'custom') setScopes(new Set(access === 'full' ? [] : scopesOf(access)));
    setAccess(chosen);
  };
  const send = async () => {
    const expiry = days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() };
    const may = access === 'custom' ? { scopes: SCOPE_NAMES.filter((scope) => scopes.has(scope)) } : { access };
    const made = await call('POST /projects/:project_id/api-keys', { body: { name, ...may, ...expiry } });
    announce('Key created: copy it now');
    await changedAt(ofProject('/api-keys'));
    onMade(made);
  };
  return (
    <Form
      action="Create key"
      icon="key"
      refused={refusal(name, access === 'custom' && scopes.size === 0, wrongDays)}
      onSend={send}
      onCancel={onCancel}
    >
      <Field label="Name" hint="What the key is for">
        <input
          class="input"
          required
          maxLength={200}
          autofocus
          autocomplete="off"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <AccessChoice label="Access" among={ACCESS_NAMES} chosen={access} onChoose={choose} />
      {access === 'custom' && <ScopeChoice chosen={scopes} onChoose={setScopes} />}
      <Field label="Days until it expires" hint="Leave empty for a key that never expires" wrong={wrongDays}>
        <input
          class="input"
          inputMode="numeric"
          autocomplete="off"
          value={days}
          onInput={(event) => setDays(event.currentTarget.value.trim())}
        />
      </Field>
    </Form>
  );
}

function isDays(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DAYS;
}

function refusal(name: string, lacksScopes: boolean, wrongDays: string | null): string | null {
  if (name.trim() === '') return 'Enter a name';
  return lacksScopes ? 'Choose a scope' : wrongDays;
}
