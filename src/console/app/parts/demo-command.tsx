import { demoCommand } from '../../model/tour.js';
import { base } from '../state/location.js';
import { whoami } from '../state/session.js';
import { CopyButton } from './copy.js';

/** How the demo's data gets into this server. */
export function DemoCommand() {
  const isOnly = (whoami.value?.projects.length ?? 1) < 2;
  const command = demoCommand(window.location.origin + base, isOnly);
  return (
    <>
      <p>Load demo data with this command, in the server folder:</p>
      <p class="line whole command">
        <code>{command}</code>
        <CopyButton text={command} what="Command" />
      </p>
      <p class="soft">
        It sends one hour of data from a shop assistant: sessions, traces with tools and errors, prompts with versions,
        feedback, and a judge with corrections. With an installed package, run <code>spanhouse demo</code>.
        {!isOnly && ' SPANHOUSE_KEY is a key of this project; without it, the data goes to the oldest project.'}
      </p>
    </>
  );
}
