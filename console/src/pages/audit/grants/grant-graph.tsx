import { useId, type ReactNode } from 'react';
import { useAuditMessages } from '../use-audit-messages.ts';
import type { UserAndApplicationNames } from '../use-user-and-application-name-lookups.ts';
import type { Grant } from './use-grants-from-audit-log.ts';
import classes from './grant-graph.module.css';

/** Maximum number of customers, and of applications, in the graph. */
export const maxGrantGraphRows = 20;

const width = 640;
const nodeWidth = 210;
const rowHeight = 40;
const nodeHeight = 28;
/** Maximum length of a name in the graph; the table contains the complete names. */
const maxNameLength = 28;

type Props = { readonly grants: readonly Grant[]; readonly names: UserAndApplicationNames };

/** A graph with the customers on the left, the applications on the right, and a line for each grant. The table has the same content. */
export function GrantGraph({ grants, names }: Props): ReactNode {
  const t = useAuditMessages();
  const id = useId();
  const users = [...new Set(grants.map(({ userId }) => userId))].slice(0, maxGrantGraphRows);
  const applications = [...new Set(grants.map(({ clientId }) => clientId))].slice(0, maxGrantGraphRows);
  const height = Math.max(users.length, applications.length) * rowHeight;
  const yOf = (index: number, count: number): number => (height * (index + 0.5)) / count;
  const lines = grants.filter(({ userId, clientId }) => users.includes(userId) && applications.includes(clientId));
  return (
    // `tabIndex` lets keyboard users scroll.
    <div className={classes['scroll']} role="group" aria-label={t('grants.graph')} tabIndex={0}>
      <svg className={classes['graph']} viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id}>
        <title id={id}>{t('grants.graphAbout', { users: users.length, applications: applications.length, grants: lines.length })}</title>
        {lines.map(({ userId, clientId }) => (
          <path
            key={`${userId} ${clientId}`}
            className={classes['line']}
            d={linePath(yOf(users.indexOf(userId), users.length), yOf(applications.indexOf(clientId), applications.length))}
          />
        ))}
        {users.map((userId, index) => (
          <Node key={userId} x={0} y={yOf(index, users.length)} kind="user" name={names.user(userId)} />
        ))}
        {applications.map((clientId, index) => (
          <Node
            key={clientId}
            x={width - nodeWidth}
            y={yOf(index, applications.length)}
            kind="application"
            name={names.application(clientId)}
          />
        ))}
      </svg>
    </div>
  );
}

/** Returns a curve from a customer to an application. */
function linePath(from: number, to: number): string {
  const [left, right, middle] = [nodeWidth, width - nodeWidth, width / 2];
  return `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`;
}

type NodeProps = { readonly x: number; readonly y: number; readonly kind: 'user' | 'application'; readonly name: string };

function Node({ x, y, kind, name }: NodeProps): ReactNode {
  const text = name.length > maxNameLength ? `${name.slice(0, maxNameLength - 1)}…` : name;
  return (
    <g className={classes['node']} data-kind={kind}>
      <rect x={x + 0.5} y={y - nodeHeight / 2} width={nodeWidth - 1} height={nodeHeight} rx={6} />
      <text x={x + 12} y={y} dominantBaseline="central">
        {text}
      </text>
    </g>
  );
}
