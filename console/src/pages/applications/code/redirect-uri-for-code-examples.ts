import type { Application } from '@mandate/client-sdk';

export type ExampleApplication = Pick<Application, 'client_id' | 'type' | 'grant_types' | 'redirect_uris' | 'scopes'> & {
  /** Client secret, if the server has just created it. */
  readonly client_secret?: string | null;
};

/** Redirect URI in the examples for applications that have none. */
export const getRedirectUriOrExample = ({ redirect_uris: uris }: ExampleApplication): string => uris[0] ?? 'https://app.example/callback';
