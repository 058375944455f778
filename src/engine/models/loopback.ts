const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether a host leads nowhere but to the machine itself. @param hostname as `URL.hostname` has it, in brackets for IPv6 */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
