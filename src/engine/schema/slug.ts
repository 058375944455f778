/** What a slug of a prompt can be. */
export const SLUG = /^[A-Za-z0-9._ /-]{1,128}$/;
