import { findBestFittingApplicationKind } from '../application-kinds.ts';
import { getRedirectUriOrExample, type ExampleApplication } from './redirect-uri-for-code-examples.ts';

/** Returns shell commands that obtain a token for an application and call the API with the token. */
export function createCurlExample(application: ExampleApplication, issuer: string): string {
  const kind = findBestFittingApplicationKind(application);
  const lines = { web: signIn, browser: signIn, service: clientCredentials, device }[kind](application, issuer);
  return [...secretLines(application), ...lines].join('\n');
}

/** Sets the client secret as an environment variable. */
const secretLines = ({ type, client_secret: secret }: ExampleApplication): readonly string[] =>
  type === 'confidential' ? [`export MANDATE_CLIENT_SECRET='${secret ?? '...'}'`, ''] : [];

const client = ({ client_id: id, type }: ExampleApplication): string =>
  type === 'confidential' ? `-u "${id}:$MANDATE_CLIENT_SECRET"` : `-d client_id=${id}`;

const readToken = `sed -E 's/.*"access_token":"([^"]+)".*/\\1/'`;

const callApi = (issuer: string): readonly string[] => ['', `curl -s ${issuer}/api/v1/authorization -H "Authorization: Bearer $TOKEN"`];

const clientCredentials = (application: ExampleApplication, issuer: string): readonly string[] => [
  `TOKEN=$(curl -s ${issuer}/oauth/token ${client(application)} \\`,
  `  -d grant_type=client_credentials \\`,
  `  --data-urlencode scope='${application.scopes.join(' ')}' | ${readToken})`,
  ...callApi(issuer),
];

function signIn(application: ExampleApplication, issuer: string): readonly string[] {
  const redirectUri = getRedirectUriOrExample(application);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: application.client_id,
    redirect_uri: redirectUri,
    scope: application.scopes.join(' '),
    code_challenge_method: 'S256',
  });
  return [
    'VERIFIER=$(openssl rand -hex 32)',
    `CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)`,
    `echo "Open this URL, and sign in: ${issuer}/oauth/authorize?${query}&code_challenge=$CHALLENGE"`,
    `read -rp "Value of the parameter code in the redirect: " CODE`,
    '',
    `TOKEN=$(curl -s ${issuer}/oauth/token ${client(application)} \\`,
    `  -d grant_type=authorization_code -d code="$CODE" -d code_verifier="$VERIFIER" \\`,
    `  --data-urlencode redirect_uri='${redirectUri}' | ${readToken})`,
    ...callApi(issuer),
  ];
}

const device = (application: ExampleApplication, issuer: string): readonly string[] => [
  `curl -s ${issuer}/oauth/device-authorization ${client(application)} --data-urlencode scope='${application.scopes.join(' ')}'`,
  '# Open verification_uri_complete in a browser, and sign in.',
  'read -rp "Value of device_code: " DEVICE_CODE',
  '',
  `TOKEN=$(curl -s ${issuer}/oauth/token ${client(application)} \\`,
  `  -d grant_type=urn:ietf:params:oauth:grant-type:device_code -d device_code="$DEVICE_CODE" | ${readToken})`,
  ...callApi(issuer),
];
