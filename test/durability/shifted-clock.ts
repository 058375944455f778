import { readFileSync } from 'node:fs';

// Loaded into the server by `node --import`: its wall clock is the machine's, shifted by so many milliseconds as the file
// CLOCK_SHIFT_FILE says, read again upon SIGUSR2. Clocks that only measure how long something takes stay as they are.

const file = process.env['CLOCK_SHIFT_FILE'] ?? '';
const machine = Date.now;
let shiftMs = 0;
const read = () => {
  shiftMs = Number(readFileSync(file, 'utf8'));
};
read();
process.on('SIGUSR2', read);

const shifted = () => machine() + shiftMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, given: readonly unknown[], newTarget) =>
    Reflect.construct(target, given.length === 0 ? [shifted()] : given, newTarget) as Date,
  apply: () => new Date(shifted()).toString(),
  get: (target, name, receiver) => (name === 'now' ? shifted : (Reflect.get(target, name, receiver) as unknown)),
});
