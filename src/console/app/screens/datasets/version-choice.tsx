import { count, counted } from '../../../model/format.js';
import { When } from '../../parts/figures.js';
import { setQuery } from '../../state/location.js';
import type { Version } from './data.js';

export interface Tag {
  readonly tag: string;
  readonly version_number: number;
}

/** A number of a version that stands in an address; null: none, or no number. */
export function numberIn(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
}

function versionLabel(number: number, tags: readonly Tag[]): string {
  const names = tags.filter(({ version_number }) => version_number === number).map(({ tag }) => tag);
  return [`Version ${number}`, ...names].join(', ');
}

interface VersionSelectProps {
  readonly label: string;
  readonly versions: readonly Version[];
  readonly tags: readonly Tag[];
  readonly number: number;
  readonly onChoose: (number: number) => void;
}

export function VersionSelect({ label, versions, tags, number, onChoose }: VersionSelectProps) {
  const numbers = versions.map(({ version_number }) => version_number);
  if (!numbers.includes(number)) numbers.unshift(number);
  return (
    <label class="line">
      <span class="soft">{label}</span>
      <select class="input" value={String(number)} onChange={({ currentTarget: { value } }) => onChoose(Number(value))}>
        {numbers.map((each) => (
          <option key={each} value={String(each)}>
            {versionLabel(each, tags)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface VersionChoiceProps extends Omit<VersionSelectProps, 'label' | 'onChoose'> {
  readonly newest: number;
}

/** Chooses the version that is shown. */
export function VersionChoice({ newest, ...choice }: VersionChoiceProps) {
  const choose = (number: number) =>
    setQuery({ version: number === newest ? null : String(number), offset: null, row: null });
  return <VersionSelect {...choice} label="Show" onChoose={choose} />;
}

/** What a version is: who made it, when, of what, and how it differs from the one before. */
export function VersionLine({ version }: { readonly version: Version | undefined }) {
  if (version === undefined) return null;
  return (
    <p class="line soft">
      {version.message !== '' && <bdi class="clip dataset-message">“{version.message}”</bdi>}
      <span>
        <When at={version.created_at} relative /> by <bdi>{version.created_by_name}</bdi>
      </span>
      <span>
        {counted(version.row_count, 'row')} (<Changes of={version} />)
      </span>
    </p>
  );
}

/** How many rows were added, changed and removed. */
export function Changes({ of }: { readonly of: Pick<Version, 'added' | 'changed' | 'removed'> }) {
  const { added, changed, removed } = of;
  return (
    <span title={`${count(added)} added, ${count(changed)} changed, ${count(removed)} removed`}>
      <span class="good">+{count(added)}</span> ~{count(changed)} <span class="bad">−{count(removed)}</span>
    </span>
  );
}
