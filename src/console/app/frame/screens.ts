import type { ComponentType } from 'preact';
import { isReading, type Scope } from '../../../engine/identity/scopes.js';
import type { IconName } from '../parts/icon.js';
import { refusalOf } from '../state/session.js';
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
  /** What it is nothing without: it is offered to nobody who lacks that. Absent: it has something for everybody. */
  readonly needs?: Scope;
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
    needs: 'spans:read',
    load: () => import('../screens/overview/index.js'),
  },
  {
    name: 'traces',
    label: 'Traces',
    icon: 'traces',
    key: 't',
    needs: 'spans:read',
    load: () => import('../screens/list/index.js'),
    loadOne: () => import('../screens/trace/index.js'),
  },
  {
    name: 'spans',
    label: 'Spans',
    icon: 'spans',
    key: 'n',
    needs: 'spans:read',
    load: () => import('../screens/list/index.js'),
  },
  {
    name: 'sessions',
    label: 'Sessions',
    icon: 'sessions',
    key: 's',
    needs: 'spans:read',
    load: () => import('../screens/list/index.js'),
    loadOne: () => import('../screens/session/index.js'),
  },
  {
    name: 'users',
    label: 'Users',
    icon: 'users',
    key: 'u',
    needs: 'spans:read',
    load: () => import('../screens/users/index.js'),
  },
  {
    name: 'prompts',
    label: 'Prompts',
    icon: 'prompts',
    key: 'p',
    needs: 'prompts:read',
    load: () => import('../screens/prompts/index.js'),
  },
  {
    name: 'judges',
    label: 'Judges',
    icon: 'judges',
    key: 'j',
    needs: 'judges:read',
    load: () => import('../screens/judges/index.js'),
  },
  {
    name: 'datasets',
    label: 'Datasets',
    icon: 'database',
    key: 'd',
    needs: 'datasets:read',
    load: () => import('../screens/datasets/index.js'),
  },
  {
    name: 'experiments',
    label: 'Experiments',
    icon: 'experiments',
    key: 'e',
    needs: 'datasets:read',
    load: () => import('../screens/experiments/index.js'),
  },
  {
    name: 'comparisons',
    label: 'Comparisons',
    icon: 'comparisons',
    key: 'c',
    needs: 'datasets:read',
    load: () => import('../screens/experiments/index.js'),
  },
  {
    name: 'dashboards',
    label: 'Dashboards',
    icon: 'dashboards',
    key: 'b',
    needs: 'dashboards:read',
    load: () => import('../screens/dashboards/index.js'),
  },
  {
    name: 'views',
    label: 'Saved views',
    icon: 'views',
    key: 'v',
    needs: 'dashboards:read',
    isBeside: true,
    load: () => import('../screens/dashboards/index.js'),
  },
  {
    name: 'monitors',
    label: 'Monitors',
    icon: 'monitors',
    key: 'm',
    needs: 'monitors:read',
    load: () => import('../screens/monitors/index.js'),
  },
  {
    name: 'review',
    label: 'Review',
    icon: 'review',
    key: 'r',
    needs: 'feedback:write',
    load: () => import('../screens/review/index.js'),
  },
  {
    name: 'playground',
    label: 'Playground',
    icon: 'playground',
    key: 'y',
    needs: 'prompts:write',
    load: () => import('../screens/playground/index.js'),
  },
  {
    name: 'links',
    label: 'Feedback links',
    icon: 'links',
    key: 'f',
    needs: 'feedback:read',
    load: () => import('../screens/links/index.js'),
  },
  {
    name: 'audit',
    label: 'Audit log',
    icon: 'audit',
    key: 'a',
    needs: 'audit:read',
    load: () => import('../screens/audit/index.js'),
  },
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

/** The screens that the signed-in person has a use for. */
export function offeredScreens(): Screen[] {
  return SCREENS.filter(({ needs }) => needs === undefined || refusalOf(needs) === null);
}

/** Why the signed-in person may not see a screen; null: they may, even where they can do nothing there. */
export function refusalOfScreen({ needs }: Screen): string | null {
  return needs === undefined || !isReading(needs) ? null : refusalOf(needs);
}

/** The chunk of a screen, or of what stands behind it. */
export function chunkOf(name: string, id: string | null): ReturnType<Load> | undefined {
  const screen = screenNamed(name);
  return id === null ? screen?.load() : (screen?.loadOne ?? screen?.load)?.();
}

export function screenNamed(name: string): Screen | undefined {
  return SCREENS.find((screen) => screen.name === name);
}
