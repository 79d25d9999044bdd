import { useMediaQuery } from '@mantine/hooks';
import { useId, type ReactNode } from 'react';
import { useAuditTranslations } from '../use-audit-translations.ts';
import type { UserAndApplicationNames } from '../use-user-and-application-name-lookups.ts';
import type { Grant } from './use-grants-from-audit-log.ts';
import classes from './grant-graph.module.css';

/** Maximum number of customers, and of applications, in the graph. */
export const maxGrantGraphRows = 20;

/** Dimensions of the graph, and the maximum lengths of a name and of the detail below it; the table contains the complete texts. */
type Layout = { readonly width: number; readonly nodeWidth: number; readonly maxNameLength: number; readonly maxDetailLength: number };
const wideLayout: Layout = { width: 640, nodeWidth: 230, maxNameLength: 28, maxDetailLength: 30 };
/** The layout for narrow windows, in which the text would be too small if the wide graph were scaled down. */
const narrowLayout: Layout = { width: 320, nodeWidth: 136, maxNameLength: 15, maxDetailLength: 17 };
/** How much a wide window enlarges the graph at most. */
const maxScale = 1.35;
const nodeHeight = 28;
/** Height of a node that shows an e-mail address or a client ID below the name. */
const nodeHeightWithDetail = 42;
const gap = 12;

type Props = { readonly grants: readonly Grant[]; readonly names: UserAndApplicationNames };

/** A graph with the customers on the left, the applications on the right, and a line for each grant. The table has the same content. */
export function CustomerApplicationGrantGraph({ grants, names }: Props): ReactNode {
  const t = useAuditTranslations();
  const id = useId();
  const layout = useMediaQuery('(max-width: 640px)', false, { getInitialValueInEffect: false }) ? narrowLayout : wideLayout;
  const users = [...new Set(grants.map(({ userId }) => userId))].slice(0, maxGrantGraphRows);
  const applications = [...new Set(grants.map(({ clientId }) => clientId))].slice(0, maxGrantGraphRows);
  const hasDetails =
    users.some((userId) => names.distinguishingEmail(userId) !== undefined) ||
    applications.some((clientId) => names.distinguishingClientId(clientId) !== undefined);
  const height = Math.max(users.length, applications.length) * ((hasDetails ? nodeHeightWithDetail : nodeHeight) + gap);
  const yOf = (index: number, count: number): number => (height * (index + 0.5)) / count;
  const lines = grants.filter(({ userId, clientId }) => users.includes(userId) && applications.includes(clientId));
  return (
    <svg
      className={classes['graph']}
      viewBox={`0 0 ${layout.width} ${height}`}
      style={{ maxWidth: layout.width * maxScale }}
      role="img"
      aria-labelledby={id}
    >
      <title id={id}>{t('grants.graphAbout', { users: users.length, applications: applications.length, grants: lines.length })}</title>
      {lines.map(({ userId, clientId }) => (
        <path
          key={`${userId} ${clientId}`}
          className={classes['line']}
          d={linePath(layout, yOf(users.indexOf(userId), users.length), yOf(applications.indexOf(clientId), applications.length))}
        />
      ))}
      {users.map((userId, index) => (
        <Node
          key={userId}
          layout={layout}
          x={0}
          y={yOf(index, users.length)}
          kind="user"
          name={names.user(userId)}
          detail={names.distinguishingEmail(userId)}
        />
      ))}
      {applications.map((clientId, index) => (
        <Node
          key={clientId}
          layout={layout}
          x={layout.width - layout.nodeWidth}
          y={yOf(index, applications.length)}
          kind="application"
          name={names.application(clientId)}
          detail={names.distinguishingClientId(clientId)}
        />
      ))}
    </svg>
  );
}

/** Returns a curve from a customer to an application. */
function linePath({ width, nodeWidth }: Layout, from: number, to: number): string {
  const [left, right, middle] = [nodeWidth, width - nodeWidth, width / 2];
  return `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`;
}

type NodeProps = {
  readonly layout: Layout;
  readonly x: number;
  readonly y: number;
  readonly kind: 'user' | 'application';
  readonly name: string;
  /** E-mail address or client ID, if another node has the same name. */
  readonly detail: string | undefined;
};

function Node({ layout: { nodeWidth, maxNameLength, maxDetailLength }, x, y, kind, name, detail }: NodeProps): ReactNode {
  const height = detail === undefined ? nodeHeight : nodeHeightWithDetail;
  const [nameY, detailY] = [detail === undefined ? y : y - 8, y + 9];
  return (
    <g className={classes['node']} data-kind={kind}>
      <rect x={x + 0.5} y={y - height / 2} width={nodeWidth - 1} height={height} rx={6} />
      <text x={x + 12} y={nameY} dominantBaseline="central">
        {shorten(name, maxNameLength)}
      </text>
      {detail !== undefined && (
        <text className={classes['detail']} x={x + 12} y={detailY} dominantBaseline="central">
          {shorten(detail, maxDetailLength)}
        </text>
      )}
    </g>
  );
}

const shorten = (text: string, maxLength: number): string => (text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);
