import { raw, sql } from '@mikro-orm/core';

/** Returns a condition on `users` or `mailed_links` that is met if the e-mail address equals one of the given addresses, ignoring case. */
export const buildEmailEqualsFilter = (...emails: readonly string[]) => ({
  [sql.lower('email')]: { $in: emails.map((email) => raw('lower(?)', [email])) },
});
