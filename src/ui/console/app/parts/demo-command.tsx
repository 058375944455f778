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
      <p>Load the demo’s data, by this command in the folder of the server:</p>
      <p class="line whole command">
        <code>{command}</code>
        <CopyButton text={command} what="Command" />
      </p>
      <p class="soft">
        It sends an hour of a shop’s assistant: sessions, traces with tools and errors, prompts with versions, feedback,
        and a judge with corrections. Of an installed package: <code>spanhouse demo</code>.
        {!isOnly && ' SPANHOUSE_KEY is a key of this project; without one, it goes to the oldest project.'}
      </p>
    </>
  );
}
