/**
 * How requests with traces of a Spanhouse server name themselves. None of them is traced, whatever server they reach:
 * itself, through any proxy, or another that sends its traces back.
 */
export const OWN_EXPORT = 'spanhouse-own-traces';

export function isOwnExport(userAgent: string | undefined): boolean {
  return userAgent?.startsWith(`${OWN_EXPORT} `) === true;
}
