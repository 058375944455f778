import type { ComponentType } from 'preact';
import { Tabs } from '../../parts/tabs.js';
import { place, setQuery } from '../../state/location.js';
import Definitions from './definitions.js';
import Exports from './exports.js';
import Health from './health.js';
import Keys from './keys.js';
import MaskingTab from './masking-tab.js';
import People from './people.js';
import Prices from './prices.js';
import Project from './project.js';
import OwnCalls from './usage.js';

interface SettingsTab {
  readonly name: string;
  readonly label: string;
  readonly Shown: ComponentType;
}

const TABS: readonly [SettingsTab, ...SettingsTab[]] = [
  { name: 'keys', label: 'Keys', Shown: Keys },
  { name: 'people', label: 'People', Shown: People },
  { name: 'prices', label: 'Prices', Shown: Prices },
  { name: 'scores', label: 'Scores', Shown: Definitions },
  { name: 'exports', label: 'Exports', Shown: Exports },
  { name: 'masking', label: 'Masking', Shown: MaskingTab },
  { name: 'project', label: 'Project', Shown: Project },
  { name: 'usage', label: 'Internal usage', Shown: OwnCalls },
  { name: 'health', label: 'Health', Shown: Health },
];

/** Keys, people, prices, what scores mean, what is exported and what is masked, the project itself, and how the server is. */
export default function Settings() {
  const chosen = TABS.find(({ name }) => name === place.value.query.get('tab')) ?? TABS[0];
  return (
    <div class="stack settings">
      <header class="screen-head">
        <h1>Settings</h1>
      </header>
      <Tabs label="Settings" tabs={TABS} chosen={chosen.name} onChoose={(tab) => setQuery(parametersOf(tab))}>
        <chosen.Shown key={chosen.name} />
      </Tabs>
    </div>
  );
}

/** What one tab is asked is nothing to another. */
function parametersOf(tab: string): Record<string, string | null> {
  return { ...Object.fromEntries([...place.value.query.keys()].map((name) => [name, null])), tab };
}
