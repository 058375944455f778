#!/usr/bin/env -S MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576 node --max-semi-space-size=16
/** The command of the installed package. Nothing is imported that an older Node.js cannot read before its version is known. */
import { OLDEST, suffices } from './node-releases.mjs';

if (suffices()) {
  const { spanhouseCommand } = await import('../dist/scripts/spanhouse/command.js');
  await (await spanhouseCommand(process.argv[2])).parseAsync();
} else {
  process.stderr.write(
    `Spanhouse needs Node.js ${OLDEST} or newer; this is ${process.versions.node}. Get a current version from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
}
