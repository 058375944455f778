import { bootServer } from './server.js';

/** The server that files of a run share, each with a project of its own: started by the runner, and ends with it. */
const { url, dataDir, dispose } = await bootServer({
  // Its readers wait for those of other files, too, and all sign in and review from one address.
  limits: { readWaitMs: 120_000, reviewRequestsPerMinuteOfAddress: 10_000 },
  signIns: { attemptsPerMinute: 10_000 },
});
process.once('disconnect', () => void dispose().finally(() => process.exit(0)));
process.send?.({ url, dataDir });
