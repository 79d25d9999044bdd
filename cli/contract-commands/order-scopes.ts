import type { Session } from '../sign-in/session.ts';

/** The scope that lets this session read orders: that of customers, or that of staff alone. */
export const scopeToReadOrders = ({ credential }: Session): 'orders.read' | 'orders.manage' =>
  credential?.scopes.includes('orders.manage') ? 'orders.manage' : 'orders.read';
