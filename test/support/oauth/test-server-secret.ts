/** `MANDATE_SECRET` of all test servers, from which they derive their keys. */
export const testServerSecret = 'a-secret-of-the-tests-and-of-nothing-else-at-all';
