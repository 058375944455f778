import type { ComponentType } from 'preact';
import type { IconName } from '../parts/icon.js';
import type { ScreenProps } from './screen-props.js';

type Load = () => Promise<{ readonly default: ComponentType<ScreenProps> }>;

export interface Screen {
  /** As the address says it. */
  readonly name: string;
  readonly label: string;
  readonly icon: IconName;
  /** Whether the navigation offers it only while the project has no trace. */
  readonly forNewcomers?: true;
  /** Whether it is reached from other screens, and not from the navigation. */
  readonly isBeside?: true;
  /** Goes there after `g`. */
  readonly key: string;
  /** Its chunk. */
  readonly load: Load;
  /** The chunk of what stands behind it in the address, where that is a view of its own. */
  readonly loadOne?: Load;
}

/** Every screen, in the order of the navigation; what newcomers alone are offered stands last, so that nothing moves. */
export const SCREENS: readonly Screen[] = [
  {
    name: 'overview',
    label: 'Overview',
    icon: 'overview',
    key: 'o',
    load: () => import('../screens/overview/index.js'),
  },
  {
    name: 'traces',
    label: 'Traces',
    icon: 'traces',
    key: 't',
    load: () => import('../screens/list/index.js'),
    loadOne: () => import('../screens/trace/index.js'),
  },
  { name: 'spans', label: 'Spans', icon: 'spans', key: 'n', load: () => import('../screens/list/index.js') },
  {
    name: 'sessions',
    label: 'Sessions',
    icon: 'sessions',
    key: 's',
    load: () => import('../screens/list/index.js'),
    loadOne: () => import('../screens/session/index.js'),
  },
  { name: 'users', label: 'Users', icon: 'users', key: 'u', load: () => import('../screens/users/index.js') },
  { name: 'prompts', label: 'Prompts', icon: 'prompts', key: 'p', load: () => import('../screens/prompts/index.js') },
  {
    name: 'judges',
    label: 'Judges',
    icon: 'judges',
    key: 'j',
    load: () => import('../screens/judges/index.js'),
  },
  {
    name: 'datasets',
    label: 'Datasets',
    icon: 'database',
    key: 'd',
    load: () => import('../screens/datasets/index.js'),
  },
  {
    name: 'experiments',
    label: 'Experiments',
    icon: 'experiments',
    key: 'e',
    load: () => import('../screens/experiments/index.js'),
  },
  {
    name: 'comparisons',
    label: 'Comparisons',
    icon: 'comparisons',
    key: 'c',
    load: () => import('../screens/experiments/index.js'),
  },
  {
    name: 'dashboards',
    label: 'Dashboards',
    icon: 'dashboards',
    key: 'b',
    load: () => import('../screens/dashboards/index.js'),
  },
  {
    name: 'views',
    label: 'Saved views',
    icon: 'views',
    key: 'v',
    isBeside: true,
    load: () => import('../screens/dashboards/index.js'),
  },
  {
    name: 'monitors',
    label: 'Monitors',
    icon: 'monitors',
    key: 'm',
    load: () => import('../screens/monitors/index.js'),
  },
  {
    name: 'review',
    label: 'Review',
    icon: 'review',
    key: 'r',
    load: () => import('../screens/review/index.js'),
  },
  {
    name: 'playground',
    label: 'Playground',
    icon: 'playground',
    key: 'y',
    load: () => import('../screens/playground/index.js'),
  },
  { name: 'links', label: 'Links', icon: 'links', key: 'f', load: () => import('../screens/links/index.js') },
  { name: 'audit', label: 'Audit log', icon: 'audit', key: 'a', load: () => import('../screens/audit/index.js') },
  {
    name: 'settings',
    label: 'Settings',
    icon: 'settings',
    key: ',',
    load: () => import('../screens/settings/index.js'),
  },
  {
    name: 'first',
    label: 'First trace',
    icon: 'first',
    key: '1',
    forNewcomers: true,
    load: () => import('../screens/first/index.js'),
  },
];

/** The chunk of a screen, or of what stands behind it. */
export function chunkOf(name: string, id: string | null): ReturnType<Load> | undefined {
  const screen = screenNamed(name);
  return id === null ? screen?.load() : (screen?.loadOne ?? screen?.load)?.();
}

export function screenNamed(name: string): Screen | undefined {
  return SCREENS.find((screen) => screen.name === name);
}
