import { rolesFor } from '@mandate/contract';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { Application, isSelfRegistered, selfRegistrations } from '../../applications/application.entity.ts';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import { User } from '../../users/user.entity.ts';
import { beginConnection } from './connected-apps.ts';
import { isApiScope, isKnownScope } from '../protocol/oauth-scopes.ts';

type Grant = InstanceType<Provider['Grant']>;
export type Role = User['role'];

/** Users can grant only the scopes that their role can use. */
export const mayGrant = (role: Role, scope: string): boolean => !isApiScope(scope) || rolesFor(scope).includes(role);

type Approval = { readonly consented: string[]; readonly preapproved: string[] };

// Locks the application: a withdrawal of its pre-approval waits for the grant that is being created, and then revokes it.
const findApproval = statement<Approval & Pick<Application, 'registration'>>(
  'find_approval',
  `select coalesce(c.scopes, '{}') as consented, a.preapproved_scopes as preapproved, a.registration
   from applications a left join consents c on a.id = c.application_id and c.user_id = $1 where a.client_id = $2 for key share of a`,
);

/**
 * Returns the scopes that the user need not be asked about: those they consented to, and those that an administrator approved for
 * everybody. Undefined for a self-registered application, whose consent page is always shown.
 */
async function approvalFor(em: Em, userId: number, clientId: string): Promise<Approval | undefined> {
  const [row] = await findApproval(em, [userId, clientId]);
  return row && !isSelfRegistered(row) ? row : undefined;
}

const addToConsent = statement(
  'add_to_consent',
  `insert into consents (user_id, application_id, scopes, granted_at)
   select $1, a.id, $3::text[], $4 from applications a where a.client_id = $2 for key share of a
   on conflict (user_id, application_id) do update
   set scopes = array(select distinct unnest(consents.scopes || excluded.scopes) order by 1), granted_at = excluded.granted_at`,
);

export async function remember(em: Em, userId: number, clientId: string, granted: readonly string[], now: Date): Promise<void> {
  await addToConsent(em, [userId, clientId, granted, now]);
  const selfRegistered = { clientId, registration: { $in: [...selfRegistrations] } };
  await em.fork({ keepTransactionContext: true }).nativeUpdate(Application, selfRegistered, { lastConsentAt: now });
}

/** What an authorization request asks for, of what there is. */
export const askedScopes = (params: Readonly<Record<string, unknown>>): string[] =>
  typeof params['scope'] === 'string' ? params['scope'].split(' ').filter(isKnownScope) : [];

/**
 * Writes into a grant what was allowed of what was asked. The scopes of the API stand in it twice, as the library has them both
 * as scopes of OpenID Connect and of the resource. What is refused stands in it too: it has been asked and is not asked again now.
 */
export function decide(grant: Grant, resources: readonly string[], asked: readonly string[], allowed: ReadonlySet<string>): void {
  for (const scope of asked) {
    if (allowed.has(scope)) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
    if (!isApiScope(scope)) continue;
    for (const resource of resources) {
      if (allowed.has(scope)) grant.addResourceScope(resource, scope);
      else grant.rejectResourceScope(resource, scope);
    }
  }
}

type AuthenticatingClient = Pick<NonNullable<KoaContextWithOIDC['oidc']['client']>, 'applicationType' | 'clientAuthMethod'>;

/**
 * Whether users are asked at every sign-in. Any program on the device can claim to be a public native application (RFC 8252, section 8.6).
 * A confidential one proves who it is when it redeems the code, even if one of its redirect URIs is on the loopback interface.
 */
export const isAskedEveryTime = ({ applicationType, clientAuthMethod }: AuthenticatingClient): boolean =>
  applicationType === 'native' && clientAuthMethod === 'none';

/**
 * The grant an authorization request begins with: the one just agreed to, or a new one over what the person agreed to before.
 * Always a new one, never the browser session's: two devices that share a grant would be signed out together.
 */
export const loadGrant = (em: Em, resources: readonly string[]) => async (ctx: KoaContextWithOIDC) => {
  const { client, account, result, provider } = ctx.oidc;
  if (!client || !account) return undefined;
  const agreed = result?.consent?.grantId;
  if (agreed !== undefined) return provider.Grant.find(agreed);
  if (isAskedEveryTime(client)) return undefined;
  const by = { userId: Number(account.accountId), clientId: client.clientId };
  return em.transactional(() => grantWithoutAsking(em, ctx, by, resources));
};

async function grantWithoutAsking(
  em: Em,
  ctx: KoaContextWithOIDC,
  { userId, clientId }: { readonly userId: number; readonly clientId: string },
  resources: readonly string[],
): Promise<Grant | undefined> {
  const { params, provider } = ctx.oidc;
  const asked = askedScopes(params ?? {});
  const approval = await approvalFor(em, userId, clientId);
  if (!approval) return undefined;
  const [consented, preapproved] = [new Set(approval.consented), new Set(approval.preapproved)];
  const role = await roleOf(em, userId);
  const allowed = new Set(asked.filter((scope) => (consented.has(scope) || preapproved.has(scope)) && mayGrant(role, scope)));
  if (asked.some((scope) => !allowed.has(scope))) return undefined; // the page asks for all of it
  const grant = new provider.Grant({ accountId: String(userId), clientId });
  decide(grant, resources, asked, allowed);
  const grantId = await grant.save();
  const preapprovedScopes = asked.filter((scope) => !consented.has(scope));
  await beginConnection(em, { grantId, userId, clientId, preapprovedScopes }, ctx.get('user-agent'), new Date());
  return grant;
}

async function roleOf(em: Em, userId: number): Promise<Role> {
  const user = await em.fork({ keepTransactionContext: true }).findOneOrFail(User, userId, { fields: ['role'] });
  return user.role;
}

/** The application of a request, as people are told about it. */
export async function findApplication(em: Em, clientId: string): Promise<Application> {
  const application = await em.fork({ keepTransactionContext: true }).findOne(Application, { clientId, status: 'active' });
  if (!application) throw new errors.SessionNotFound('the application is gone or stopped');
  return application;
}
