import { cases } from '../../bench/cases/benchmark-cases.ts';
import type { Costs } from './measure-costs.ts';
import type { MaintenanceLatency } from './measure-maintenance.ts';
import type { TableSize } from './measure-sizes.ts';

/** Measurements for a shop with this number of orders. */
export type SizeResult = {
  readonly orders: number;
  readonly users: number;
  readonly tokens: number;
  readonly costs: Costs;
  readonly sizes: readonly TableSize[];
  readonly maintenance: MaintenanceLatency;
};

const format = (value: number): string => Math.round(value).toLocaleString('en');
const titleOf = (name: string): string => cases.find((one) => one.name === name)?.title ?? name;
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const introduction = `# Growth

\`npm run scale:growth\` creates shops of several sizes, fills them with data, and measures the cost of a request in each. The requests are the same as in
\`npm run bench\` ([performance.md](performance.md)): 1,000 customers, each with a token, read, list and place orders.

The script measures the CPU time of the server and of PostgreSQL, because CPU time depends less on other programs on the machine than
throughput does. A flat line means that a request costs the same in a large shop as in a small one.

![CPU time per request by number of orders](growth.svg)
`;

/** Formats the measurements as a Markdown document. */
export function formatGrowth(results: readonly SizeResult[], seconds: number): string {
  const last = results.at(-1);
  if (!last) throw new Error('nothing was measured');
  const header = (first: string): string[] => [
    row([first, ...results.map(({ orders }) => `${format(orders)} orders`)]),
    row(['---', ...results.map(() => '---')]),
  ];
  const costRows = Object.keys(last.costs).map((name) =>
    row([
      titleOf(name),
      ...results.map(({ costs }) => {
        const { server = Number.NaN, database = Number.NaN } = costs[name] ?? {};
        return `${format(server)} + ${format(database)}`;
      }),
    ]),
  );
  const sizeRows = last.sizes.map(({ table }) =>
    row([
      `\`${table}\``,
      ...results.map(({ sizes }) => {
        const size = sizes.find((one) => one.table === table);
        return size ? `${format(size.tableBytes)} + ${format(size.indexBytes)} (${format(size.rows)} rows)` : '';
      }),
    ]),
  );
  const maintenanceRows = (
    [
      ['no other work', 'calmMs'],
      ['VACUUM of the largest tables', 'vacuumMs'],
      ['deletion of expired tokens', 'deletionMs'],
    ] as const
  ).map(([title, key]) => row([title, ...results.map(({ maintenance }) => maintenance[key].toFixed(1))]));
  const shopSizes = results.map(
    ({ orders, users, tokens }) => `- ${format(orders)} orders and events, ${format(users)} customers and ${format(tokens)} valid tokens`,
  );
  const deletedTokens = results.map(
    ({ orders, maintenance }) => `${format(maintenance.deletedTokens)} from the shop with ${format(orders)} orders`,
  );
  return [
    introduction,
    `CPU time per request in microseconds (server + PostgreSQL). Each value was measured for ${seconds} s, in shops of these sizes:`,
    '',
    ...shopSizes,
    '',
    ...header('request'),
    ...costRows,
    '',
    'Size in bytes per row, table + indexes:',
    '',
    ...header('table'),
    ...sizeRows,
    '',
    `99th percentile of the response time for new orders at half the maximum throughput, in milliseconds. During the measurements in the last row, tokens were deleted: ${new Intl.ListFormat('en-GB').format(deletedTokens)}.`,
    '',
    ...header('during'),
    ...maintenanceRows,
    '',
  ].join('\n');
}

const colors = ['#2f6f4f', '#c08a3e', '#6b7fb3', '#a65d57', '#5b5f66', '#8a5fa8'];
const [width, height, left, top, plotWidth, plotHeight] = [860, 400, 70, 50, 420, 290];

/** Draws the CPU time per request as one line for each kind of request. The number of orders is on a logarithmic axis. */
export function drawGrowth(results: readonly SizeResult[]): string {
  const names = Object.keys(results[0]?.costs ?? {});
  const cost = ({ costs }: SizeResult, name: string): number => (costs[name]?.server ?? 0) + (costs[name]?.database ?? 0);
  const highest = Math.max(...results.flatMap((result) => names.map((name) => cost(result, name))));
  const logs = results.map(({ orders }) => Math.log10(orders));
  const [from = 0, to = 1] = [logs[0], logs.at(-1)];
  const x = (index: number): number => Math.round(left + (((logs[index] ?? 0) - from) / Math.max(to - from, 1)) * plotWidth);
  const y = (value: number): number => Math.round(top + plotHeight - (value / highest) * plotHeight);
  const axis = results.map(
    ({ orders }, index) => `<text x="${x(index)}" y="${top + plotHeight + 20}" text-anchor="middle">${format(orders)}</text>`,
  );
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(highest * share);
    return `<line x1="${left}" x2="${left + plotWidth}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${left - 8}" y="${at + 4}" text-anchor="end">${format(highest * share)}</text>`;
  });
  const lines = names.map((name, line) => {
    const color = colors[line % colors.length] ?? '#888';
    const points = results.map((result, index) => `${x(index)},${y(cost(result, name))}`);
    const dots = points.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${color}"/>`);
    const label = `<rect x="${left + plotWidth + 20}" y="${top + line * 20 - 9}" width="10" height="10" fill="${color}"/><text x="${left + plotWidth + 36}" y="${top + line * 20}">${titleOf(name)}</text>`;
    return [`<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`, ...dots, label].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#222">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${left}" y="24" font-size="13">CPU time per request of the server and PostgreSQL, in microseconds, by number of orders</text>
${[...grid, ...axis, ...lines].join('\n')}
</svg>
`;
}
