const defaultIssuer = 'http://localhost:3000';

/**
 * In the repository, npx finds the command `mandate` in the workspaces. Outside the repository, npx has to install the package, so the
 * command contains the package name.
 */
const program = import.meta.url.endsWith('.js') ? 'npx @mandate/cli' : 'npx mandate';

/** Returns the command that signs in to this server. */
export const formatLoginCommand = (issuer: string): string =>
  [`${program} login`, ...(issuer === defaultIssuer ? [] : [`--api-url ${issuer}`])].join(' ');

/** Returns the commands that a new user runs to place a first order and pay for it. The README shows the same commands. */
export const formatFirstOrderCommands = (issuer: string): readonly string[] => [
  formatLoginCommand(issuer),
  `${program} products list`,
  `${program} orders create --item product_id=1,quantity=2 --delivery.method collection --delivery.recipient-name "Ann Lee"`,
  `${program} orders pay 1`,
  `${program} orders list`,
];
