// Loaded into the server by `node --import`: what is to happen in ten minutes or later, such as erasing, happens at once, so that a
// test need not wait for it.

const TEN_MINUTES_MS = 600_000;
const SOON_MS = 100;

const wait = globalThis.setTimeout;
globalThis.setTimeout = new Proxy(wait, {
  apply: (target, self, [callback, ms, ...given]: Parameters<typeof wait>) =>
    Reflect.apply(target, self, [callback, Number(ms) >= TEN_MINUTES_MS ? SOON_MS : ms, ...given]),
});
