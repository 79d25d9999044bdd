/**
 * Returns a page path without its interaction ID. The ID is also a cookie value, so an attacker who reads the log could otherwise continue
 * the sign-in.
 */
export const redactInteractionIdInPath = (path: string): string => path.replace(/\/(consent|sign-in|authorize|device)\/[^/]+/, '/$1/…');
