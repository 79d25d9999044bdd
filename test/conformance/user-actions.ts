/** A user's action: signing in and allowing or declining the requested permissions, or only opening the page. */
export type UserAction = 'allow' | 'cancel' | 'open';

const actions: Readonly<Record<string, (step: number) => UserAction>> = {
  'fapi2-security-profile-final-user-rejects-authentication': () => 'cancel',
  // the module opens the same URL twice, and the user must not sign in the first time
  'fapi2-security-profile-final-par-ensure-reused-request-uri-prior-to-auth-completion-succeeds': (step) => (step === 0 ? 'open' : 'allow'),
};

/**
 * Returns the user's action in a browser step of a test module.
 * @param step index of the step within the module
 */
export const selectUserAction = (module: string, step: number): UserAction => actions[module]?.(step) ?? 'allow';
