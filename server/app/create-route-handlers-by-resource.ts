import { contract } from '@mandate/contract';
import type { ConnectedAppDependencies } from '../access-management/connected-app-routes.ts';
import type { ApprovalDependencies } from '../approvals/routes.ts';
import type { BackupDependencies } from '../backup-files/routes.ts';
import type { BrandingDependencies } from '../branding/routes.ts';
import type { EventHandlerDependencies } from '../events/event-long-poll.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { IdentityProviderDependencies } from '../identity-providers/save-identity-provider.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import type { VersionDependencies } from '../api-versions/routes.ts';
import type { WebhookDependencies } from '../webhooks/endpoints/create-endpoint.ts';
import * as resourceRoutes from './resource-routes.ts';

type ApiDependencies = HandlerDependencies &
  PaymentHandlerDependencies &
  EventHandlerDependencies &
  VersionDependencies &
  WebhookDependencies &
  ConnectedAppDependencies &
  ApprovalDependencies &
  BackupDependencies &
  BrandingDependencies &
  IdentityProviderDependencies;

type RoutesByResource = { [Resource in keyof typeof resourceRoutes]: ReturnType<(typeof resourceRoutes)[Resource]> };

/** This declaration compiles only if `resource-routes.ts` exports the routes of every resource in the contract. */
const createByResource: Readonly<Record<keyof typeof contract, (deps: ApiDependencies) => unknown>> = resourceRoutes;

/** Returns the route handlers for every resource in the contract. */
export function createRouteHandlersByResource(deps: ApiDependencies): RoutesByResource {
  const creators = new Map(Object.entries(createByResource));
  const unlisted = [...creators.keys()].filter((resource) => !Object.hasOwn(contract, resource));
  if (unlisted.length > 0) throw new Error(`contract/index.ts does not list ${unlisted.join(', ')}`);
  const entries = Object.keys(contract).map((resource) => {
    const createRoutes = creators.get(resource);
    if (!createRoutes) throw new Error(`server/app/resource-routes.ts does not export the routes of ${resource}`);
    return [resource, createRoutes(deps)] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.fromEntries() loses the type of each resource's routes
  return Object.fromEntries(entries) as RoutesByResource;
}
