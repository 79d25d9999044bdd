/** The path of a page without the name of its interaction, which is the value of a cookie: who reads the log must not go on with it. */
export const loggedPath = (path: string): string => path.replace(/\/(consent|sign-in|authorize|device)\/[^/]+/, '/$1/…');
