import type { Application } from '../../applications/application.entity.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { User } from '../../users/user.entity.ts';

/**
 * Scopes that need no further consent (`consented` by the user, `preapproved` by an administrator for all users), and the role of the user.
 */
export type ApprovedScopesAndRole = {
  readonly consented: string[];
  readonly preapproved: string[];
  readonly firstParty: boolean;
  readonly role: User['role'];
};

// Written in SQL because MikroORM does not support FOR KEY SHARE. The statement runs for every authorization request (benchmark case
// `sign-in`).
// Locks the application, so that a concurrent withdrawal of a preapproval waits until the grant has been created. The withdrawal then
// revokes this grant too.
export const lockApplicationAndSelectApprovedScopesAndRole = prepareStatement<ApprovedScopesAndRole & Pick<Application, 'registration'>>(
  'find_approved_scopes',
  `select coalesce(c.scopes, '{}') as consented, a.preapproved_scopes as preapproved, a.registration,
     a.first_party as "firstParty", u.role
   from users u cross join applications a left join consents c on a.id = c.application_id and c.user_id = u.id
   where u.id = $1 and a.client_id = $2 for key share of a`,
);
