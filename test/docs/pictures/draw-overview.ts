import { escapeXml } from './escape-xml.ts';

type Box = { readonly x: number; readonly y: number; readonly title: string; readonly lines: readonly string[] };

const [width, height] = [920, 416];
const [boxWidth, boxHeight] = [210, 74];
const server = { x: 300, y: 20, width: 320, height: 336 };

const clients: readonly Box[] = [
  { x: 20, y: 20, title: 'Customers', lines: ['shop and account pages', 'in any browser'] },
  { x: 20, y: 107, title: 'Applications', lines: ['web shops, apps, devices', 'with granted permissions'] },
  { x: 20, y: 194, title: 'Assistants', lines: ['Model Context Protocol,', 'on behalf of the customer'] },
  { x: 20, y: 282, title: 'Staff', lines: ['command line, API keys,', 'imports and exports'] },
];

const systems: readonly Box[] = [
  { x: 690, y: 20, title: 'Payment provider', lines: ['Stripe, manual payments,', 'or test payments'] },
  { x: 690, y: 151, title: 'Your systems', lines: ['signed webhooks,', 'event feed'] },
  { x: 690, y: 282, title: 'One database', lines: ['PostgreSQL, or PGlite', 'inside the process'] },
];

const parts: readonly (readonly [title: string, text: string])[] = [
  ['Sign-in and consent', 'passwords, passkeys, second factors'],
  ['OAuth 2.1 and OpenID Connect', 'PKCE, DPoP, refresh, instant revocation'],
  ['Orders API', 'products, stock, payments, shipments'],
  ['Events', 'in order, without gaps, at least once'],
];

const drawBox = ({ x, y, title, lines }: Box): string =>
  [
    `<rect class="box" x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="8"/>`,
    `<text class="title" x="${x + 14}" y="${y + 24}">${escapeXml(title)}</text>`,
    ...lines.map((line, at) => `<text class="small" x="${x + 14}" y="${y + 43 + at * 17}">${escapeXml(line)}</text>`),
  ].join('\n');

const drawArrow = (fromX: number, toX: number, y: number): string =>
  `<path class="arrow" d="M${fromX} ${y}H${toX - 7}" marker-end="url(#head)"/>`;

const drawPart = ([title, text]: readonly [string, string], at: number): string => {
  const y = server.y + 58 + at * 68;
  return [
    `<rect class="part" x="${server.x + 16}" y="${y}" width="${server.width - 32}" height="56" rx="6"/>`,
    `<text class="title" x="${server.x + 30}" y="${y + 24}">${escapeXml(title)}</text>`,
    `<text class="small" x="${server.x + 30}" y="${y + 43}">${escapeXml(text)}</text>`,
  ].join('\n');
};

const style = [
  'text{font-family:system-ui,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:#1c2733}',
  '.title{font-size:15px;font-weight:600}.small{font-size:12.5px;fill:#4a5866}.name{font-size:19px;font-weight:700;fill:#fff}',
  '.page{fill:#fff}.box{fill:#f4f6f8;stroke:#c5ced8}.server{fill:#1f5c4a}.part{fill:#fff}.arrow{stroke:#5b6976;stroke-width:1.6;fill:none}.head{fill:#5b6976}',
  '@media (prefers-color-scheme:dark){text{fill:#e6ebf0}.small{fill:#b4bfca}.page{fill:#0d1117}.box{fill:#1a212b;stroke:#3a4654}.part{fill:#10231d}.arrow{stroke:#9aa7b4}.head{fill:#9aa7b4}}',
].join('');

/** Draws an overview of the product: its users, the server's functions, and the systems that the server uses. */
export function drawOverview(): string {
  const serverEnd = server.x + server.width;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    '<title id="title">Customers, applications, assistants and staff use Mandate, which uses a payment provider and a database and sends events</title>',
    `<style>${style}</style>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<rect class="server" x="${server.x}" y="${server.y}" width="${server.width}" height="${server.height}" rx="12"/>`,
    `<text class="name" x="${server.x + 18}" y="${server.y + 36}">Mandate</text>`,
    ...parts.map(drawPart),
    ...[...clients, ...systems].map(drawBox),
    ...clients.map(({ x, y }) => drawArrow(x + boxWidth + 6, server.x - 4, y + boxHeight / 2)),
    ...systems.map(({ x, y }) => drawArrow(serverEnd + 6, x - 4, y + boxHeight / 2)),
    `<text class="small" x="${server.x + server.width / 2}" y="${height - 24}" text-anchor="middle">Customers decide what each application may do, and can revoke its access at any time.</text>`,
    '</svg>',
    '',
  ].join('\n');
}
