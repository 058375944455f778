import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WhoAmI } from '../../../features/sign-in/http/schema.js';
import { writeTime, zoneName } from '../../model/time.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { Menu } from '../parts/menu.js';
import { Notices } from '../parts/notices.js';
import { expiresSoon } from '../../model/key-expiry.js';
import { announce, announceError, copy } from '../state/announce.js';
import { useLacksTraces } from '../state/first-trace.js';
import { useKeys } from '../state/keys.js';
import { base, hrefOf, navigate, place } from '../state/location.js';
import { density, keysOn, theme, zone } from '../state/preferences.js';
import { signOut } from '../state/session.js';
import type { GoTo as GoToDialog } from './go-to.js';
import { KeyHelp } from './key-help.js';
import { offeredScreens } from './screens.js';
import { showTour } from './show-tour.js';

/** What is around every screen: navigation, project, preferences, keys, notices. */
export function Frame({ me, children }: { readonly me: WhoAmI; readonly children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const [overlay, setOverlay] = useState<'help' | 'go' | null>(null);
  const [GoTo, setGoTo] = useState<typeof GoToDialog | null>(null);
  const load = () => import('./go-to.js').then((loaded) => setGoTo(() => loaded.GoTo));
  // Loaded before it is asked for: until it is shown, what is typed is taken for keys of the screen.
  useEffect(() => void load().catch(() => undefined), []);
  const goTo = () => {
    setOverlay('go');
    load().catch(() => {
      setOverlay(null);
      announce('Cannot load Go to. Reload the page.', { bad: true });
    });
  };
  const { screen } = place.value;
  useEffect(() => setOpen(false), [place.value]);
  useKeys([
    { keys: '?', does: 'Show this help', run: () => setOverlay('help') },
    { keys: 'mod+k', does: 'Go to anything', run: goTo },
    { keys: 'c', does: 'Copy link to this view', run: () => void copy(window.location.href, 'Link') },
    ...offeredScreens().map(({ key, name, label }) => ({
      keys: `g ${key}`,
      does: label,
      run: () => navigate(hrefOf({ screen: name })),
    })),
  ]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      {/* Before any dialog, which puts its own in front. */}
      <Notices />
      <div class="frame">
        <header class="frame-top">
          <Button look="quiet" icon="menu" label="Navigation" onClick={() => setOpen(!open)} />
          <span class="brand">Spanhouse</span>
          <Button look="quiet" icon="search" label="Go to" onClick={goTo} />
        </header>
        <aside class="frame-side" data-open={open ? '' : undefined} aria-label="Navigation">
          <a class="brand" href={`${base}/console`}>
            <img src={`${base}/feedback-page/icon.svg`} alt="" width="20" height="20" /> Spanhouse
          </a>
          <ProjectChoice me={me} />
          <Screens shown={screen} />
          <div class="frame-foot">
            <Button look="quiet" icon="search" onClick={goTo}>
              Go to… <kbd>{isMac ? '⌘' : 'Ctrl '}K</kbd>
            </Button>
            <Preferences me={me} onHelp={() => setOverlay('help')} />
          </div>
        </aside>
        <div class="frame-main">
          {isExposed && (
            <p class="banner">
              <Icon name="warning" /> This page was loaded over plain HTTP from {window.location.hostname}, so your
              session can be intercepted. Put a TLS-terminating proxy in front of the server.
            </p>
          )}
          <KeyWarning at={me.key.expires_at} />
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      {overlay === 'help' && <KeyHelp onClose={() => setOverlay(null)} />}
      {overlay === 'go' && GoTo !== null && <GoTo onClose={() => setOverlay(null)} />}
    </>
  );
}

/** Says that the key of the session is about to expire, and the session with it. */
function KeyWarning({ at }: { readonly at: string | null }) {
  if (!expiresSoon(at)) return null;
  return (
    <p class="banner">
      <Icon name="warning" /> The API key of your session expires at {writeTime(at, zone.value)}. You will be signed out
      then.
    </p>
  );
}

function Screens({ shown }: { readonly shown: string }) {
  const isNew = useLacksTraces();
  return (
    <nav class="frame-nav" aria-label="Screens">
      {offeredScreens()
        .filter(({ forNewcomers, isBeside }) => (isNew || forNewcomers !== true) && isBeside !== true)
        .map(({ name, label, icon }) => (
          <a key={name} href={hrefOf({ screen: name })} {...(name === shown && { 'aria-current': 'page' as const })}>
            <Icon name={icon} /> {label}
          </a>
        ))}
    </nav>
  );
}

const isMac = /Mac|iPhone/.test(navigator.userAgent);
const isExposed = window.location.protocol === 'http:' && !/^(localhost|127\.|\[::1\])/.test(window.location.hostname);

function ProjectChoice({ me: { projects } }: { readonly me: WhoAmI }) {
  const { project, screen } = place.value;
  const shown = projects.find(({ id }) => id === project);
  if (projects.length < 2)
    return (
      <p class="clip soft small" style="padding:0 8px">
        {shown?.name ?? ''}
      </p>
    );
  const items = projects.map(({ id, name }) => ({
    label: name,
    checked: id === project,
    href: `${base}/console/p/${id}/${screen}`,
  }));
  return <Menu items={items}>{shown?.name ?? 'Choose project'}</Menu>;
}

function Preferences({ me, onHelp }: { readonly me: WhoAmI; readonly onHelp: () => void }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set([here, 'UTC'])];
  const leave = () => {
    signOut().catch(announceError);
  };
  return (
    <Menu
      icon="user"
      look="quiet"
      items={[
        ...(['system', 'light', 'dark'] as const).map((name) => ({
          label: `Theme: ${name}`,
          checked: theme.value === name,
          run: () => (theme.value = name),
        })),
        ...zones.map((name) => ({
          label: `Times in ${name} (${zoneName(name)})`,
          checked: zone.value === name,
          run: () => (zone.value = name),
        })),
        {
          label: density.value === 'compact' ? 'Comfortable rows' : 'Compact rows',
          icon: 'collapse',
          run: () => (density.value = density.value === 'compact' ? 'normal' : 'compact'),
        },
        {
          label: keysOn.value === 'on' ? 'Disable single-key shortcuts' : 'Enable single-key shortcuts',
          icon: 'keyboard',
          run: () => (keysOn.value = keysOn.value === 'on' ? 'off' : 'on'),
        },
        { label: 'Keyboard shortcuts', icon: 'help', run: onHelp },
        { label: 'Getting started tour', icon: 'first', run: showTour },
        { label: 'Documentation', icon: 'external', href: `${base}/docs` },
        { label: 'Your sessions', icon: 'user', href: hrefOf({ screen: 'settings', query: { tab: 'people' } }) },
        { label: `Sign out ${me.user.name}`, icon: 'sign-out', run: leave },
      ]}
    >
      <span class="clip">{me.user.name}</span>
    </Menu>
  );
}
