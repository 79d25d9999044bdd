import type { Application, ApplicationCreate } from '@mandate/client-sdk';

/** Kinds of applications in the wizard, with their client types and grant types. */
export const typeAndGrantTypesByApplicationKind = {
  /** A web application whose server stores the secret. */
  web: { type: 'confidential', grant_types: ['authorization_code', 'refresh_token'] },
  /** An application in a browser, or on the user's phone or computer. */
  browser: { type: 'public', grant_types: ['authorization_code', 'refresh_token'] },
  /** A program that acts for the shop, without a user. */
  service: { type: 'confidential', grant_types: ['client_credentials'] },
  /** A program on a device without a browser. */
  device: { type: 'public', grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] },
} as const satisfies Record<string, Pick<ApplicationCreate, 'type' | 'grant_types'>>;

export type ApplicationKind = keyof typeof typeAndGrantTypesByApplicationKind;
export const isApplicationKind = (name: string): name is ApplicationKind => Object.hasOwn(typeAndGrantTypesByApplicationKind, name);
export const applicationKindNames = Object.keys(typeAndGrantTypesByApplicationKind).filter(isApplicationKind);

/** Whether users are redirected to the application after they have signed in. */
export const usesRedirectUri = (kind: ApplicationKind): boolean => kind === 'web' || kind === 'browser';

/** Returns the kind that best fits an application. */
export function findBestFittingApplicationKind({
  type,
  grant_types: grantTypes,
}: Pick<Application, 'type' | 'grant_types'>): ApplicationKind {
  if (grantTypes.includes('authorization_code')) return type === 'public' ? 'browser' : 'web';
  return grantTypes.includes('client_credentials') ? 'service' : 'device';
}
