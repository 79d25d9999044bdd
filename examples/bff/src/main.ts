import { startBff } from './start-bff.ts';

const { PORT = '4000', MANDATE_URL = 'http://localhost:3000', CLIENT_ID = 'bff', CLIENT_SECRET, COOKIE_SECRETS = '' } = process.env;
const { APP_URL = `http://localhost:${PORT}` } = process.env;

await startBff(Number(PORT), {
  serviceUrl: MANDATE_URL,
  appUrl: APP_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  cookieSecrets: COOKIE_SECRETS.split(',').filter((secret) => secret !== ''),
});
process.stdout.write(`The shop is at ${APP_URL}\n`);
