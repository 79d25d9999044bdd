const defaultIssuer = 'http://localhost:3000';

/** Returns the command that signs in to this server. */
export const formatLoginCommand = (issuer: string): string =>
  ['npx mandate login', ...(issuer === defaultIssuer ? [] : [`--api-url ${issuer}`])].join(' ');

/** Returns the commands with which a new user places a first order and pays for it. The README shows the same commands. */
export const formatFirstOrderCommands = (issuer: string): readonly string[] => [
  formatLoginCommand(issuer),
  'npx mandate products list',
  'npx mandate orders create --item product_id=1,quantity=2 --delivery.method collection --delivery.recipient-name "Ann Lee"',
  'npx mandate orders pay 1',
  'npx mandate orders list',
];
