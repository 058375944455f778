/**
 * Prints the path of a Node.js that runs Spanhouse: the one that reads this, where it is new enough, else one that is
 * fetched. The scripts of package.json begin with it, so that they work on any machine with some Node.js.
 *   node scripts/node.mjs        whichever will do
 *   node scripts/node.mjs 26     this major version, fetched (the tests run on several)
 */
import { OLDEST, fetchedNode, suffices } from './node-releases.mjs';

const say = (text) => process.stderr.write(`spanhouse: ${text}\n`);
const [major] = process.argv.slice(2);

if (major === undefined && suffices()) {
  console.log(process.execPath);
} else {
  const reason = major === undefined ? `this is Node.js ${process.versions.node}, too old; ` : '';
  try {
    console.log(fetchedNode(major, (text) => say(reason + text)));
  } catch (error) {
    say(`${reason}could not fetch another (${error.message}). Install Node.js ${OLDEST} or newer: https://nodejs.org`);
    process.exitCode = 1;
  }
}
