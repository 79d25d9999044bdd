/** Of every server of the tests, in whatever process: what their keys are derived from. */
export const secretOfTests = 'a-secret-of-the-tests-and-of-nothing-else-at-all';
