import type { Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { z } from 'zod';
import { isSelfRegistered } from '../../../applications/application.entity.ts';
import { shownLogo } from '../../../applications/logo.ts';
import { User } from '../../../users/user.entity.ts';
import { recordAuditEvent, sourceOf } from '../../../audit/record-audit-event.ts';
import { endSession } from '../../sessions/current-session.ts';
import { askedScopes, decide, findApplication, mayGrant, remember } from '../../grants/consent.ts';
import { beginConnection } from '../../grants/connected-apps.ts';
import { audiences, endpoints } from '../../protocol/endpoints.ts';
import { lifetimes } from '../../protocol/lifetimes.ts';
import {
  clientIdOf,
  endInteraction,
  pendingInteraction,
  returnAddress,
  sendPage,
  type Interaction,
  type PageContext,
} from '../routing/page-context.ts';
import { consentPage } from '../views/consent-page.ts';
import { apiScopesAmong, identityScopes } from '../../protocol/oauth-scopes.ts';

const consentForm = z.object({
  decision: z.enum(['allow', 'cancel', 'switch']),
  /** The ticked ones. */
  scope: z.union([z.string().transform((scope) => [scope]), z.array(z.string())]).default([]),
});

/** `GET /consent/:uid`: what an application would be allowed to do, in words. */
export const showConsent = (context: PageContext) => async (req: Request, res: Response) => {
  const interaction = await pendingInteraction(context, req, res, 'consent');
  const person = await personOf(context, interaction);
  const { asked, apiScopes, beyondRole } = offer(interaction, person.role);
  if (asked.length + beyondRole.length === 0) return refuse(context, req, res);
  const application = await findApplication(context.em, clientIdOf(interaction));
  const html = consentPage(context.setting, {
    csrf: context.forms.token(req, res),
    application: { name: application.name, firstParty: application.firstParty, logo: shownLogo(application.logoUri) },
    documentHost: application.registration === 'metadata_document' ? new URL(application.clientId).host : undefined,
    selfRegistered: isSelfRegistered(application),
    returnTo: returnAddress(interaction),
    person,
    apiScopes,
    beyondRole,
    identityScopes: identityScopes.filter((scope) => asked.includes(scope)),
    days: lifetimes.grant / (24 * 60 * 60),
  });
  return sendPage(context, res, html, { returnTo: returnAddress(interaction) });
};

/** `POST /consent/:uid`. */
export const submitConsent = (context: PageContext) => async (req: Request, res: Response) => {
  const form = consentForm.safeParse(req.body ?? {});
  if (!form.success) return showConsent(context)(req, res);
  switch (form.data.decision) {
    case 'cancel':
      return refuse(context, req, res);
    case 'switch':
      return switchPerson(context, req, res);
    case 'allow':
      return allow(context, req, res, new Set(form.data.scope));
  }
};

async function allow(context: PageContext, req: Request, res: Response, ticked: ReadonlySet<string>): Promise<void> {
  const { em, provider } = context;
  const returnTo = await em.transactional(async () => {
    const interaction = await pendingInteraction(context, req, res, 'consent'); // locked: of several submits one counts
    if (interaction.result?.consent !== undefined) return interaction.returnTo;
    const person = await personOf(context, interaction);
    const { asked, apiScopes } = offer(interaction, person.role);
    if (asked.length === 0) return refuseInteraction(context, req, res);
    const refused = new Set<string>(apiScopes.filter((scope) => !ticked.has(scope)));
    const allowed = asked.filter((scope) => !refused.has(scope));
    const grant = new provider.Grant({ accountId: String(person.id), clientId: clientIdOf(interaction) });
    decide(grant, audiences(provider.issuer), askedScopes(interaction.params), new Set(allowed));
    const grantId = await grant.save();
    const [clientId, now] = [clientIdOf(interaction), new Date()];
    await remember(em, person.id, clientId, allowed, now);
    await beginConnection(em, { grantId, userId: person.id, clientId }, req.headers['user-agent'], now);
    const event = { action: 'consent.granted', actorId: person.id, userId: person.id, clientId, details: { scopes: allowed } } as const;
    await recordAuditEvent(em, sourceOf(req), event, now);
    return provider.interactionResult(req, res, { consent: { grantId } });
  });
  res.redirect(303, returnTo);
}

async function refuse(context: PageContext, req: Request, res: Response): Promise<void> {
  const returnTo = await context.em.transactional(async () => {
    await pendingInteraction(context, req, res, 'consent');
    return refuseInteraction(context, req, res);
  });
  res.redirect(303, returnTo);
}

function refuseInteraction({ provider }: PageContext, req: Request, res: Response): Promise<string> {
  const result = { error: 'access_denied', error_description: 'the person did not allow it' };
  return provider.interactionResult(req, res, result, { mergeWithLastSubmission: false });
}

/** Signs out whoever is signed in and begins the application's request anew. */
async function switchPerson(context: PageContext, req: Request, res: Response): Promise<void> {
  const { provider } = context;
  const interaction = await pendingInteraction(context, req, res, 'consent');
  if (interaction.deviceCode !== undefined) return switchPersonForDevice(context, req, res, interaction);
  await endInteraction(context, req, res, interaction);
  await endSession(provider, req, res);
  const request = new URLSearchParams();
  for (const [name, value] of Object.entries(interaction.params)) {
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') request.append(name, one);
  }
  res.redirect(303, `${endpoints.authorization}?${request.toString()}`);
}

/** A device code is confirmed only once, so that its request cannot begin anew: the same request asks for a sign-in again. */
async function switchPersonForDevice({ provider }: PageContext, req: Request, res: Response, interaction: Interaction): Promise<void> {
  interaction.prompt = { name: 'login', reasons: ['account_switch'], details: {} };
  delete interaction.session;
  delete interaction.lastSubmission;
  await interaction.persist();
  await endSession(provider, req, res);
  res.redirect(303, `/sign-in/${interaction.uid}`);
}

/** The requested scopes that this user can grant, and those of the API that are beyond the user's role. */
function offer(interaction: Interaction, role: User['role']) {
  const requested = askedScopes(interaction.params);
  const asked = requested.filter((scope) => mayGrant(role, scope));
  return { asked, apiScopes: apiScopesAmong(asked), beyondRole: apiScopesAmong(requested).filter((scope) => !asked.includes(scope)) };
}

async function personOf({ em }: PageContext, { session }: Interaction): Promise<User> {
  const person = await em.fork({ keepTransactionContext: true }).findOne(User, { id: Number(session?.accountId), status: 'active' });
  if (!person) throw new errors.SessionNotFound('the account is gone or stopped');
  return person;
}
