/** Value of `MANDATE_SECRET`, from which all test servers derive their keys. */
export const testServerSecret = 'a-secret-of-the-tests-and-of-nothing-else-at-all';
