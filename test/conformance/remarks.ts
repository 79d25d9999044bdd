const screenshots = 'The screenshot shows';

/** Why a module has another result than `PASSED`, by the module's name. */
const remarks: Readonly<Record<string, string>> = {
  'oidcc-prompt-login': `${screenshots} the sign-in page of the second request.`,
};

/** Returns the explanation of a module's result, or a note that it has not been explained. */
export const remarkOf = (module: string): string => remarks[module] ?? notExplained;

export const notExplained = 'not yet examined';

/** Plans of the suite that are not run, each with the reason. */
export const plansNotRun: readonly { readonly plan: string; readonly reason: string }[] = [
  {
    plan: 'Dynamic OP',
    reason:
      'most of its modules register a client with request objects, `private_key_jwt`, pairwise subjects or signed userinfo responses, and change or rotate registered keys. This server registers clients with an initial access token, and does not support these optional features.',
  },
  {
    plan: 'Implicit OP, Hybrid OP, Form Post Implicit OP, Form Post Hybrid OP',
    reason: 'this server supports only the response type `code`; RFC 9700 section 2.1.2 recommends against the implicit grant.',
  },
  { plan: 'Session Management OP, Front-Channel Logout OP', reason: 'this server does not implement these specifications.' },
];
