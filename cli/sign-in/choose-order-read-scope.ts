import type { ProfileSession } from './profile-session.ts';

/** Returns the scope with which this session reads orders: `orders.manage` (staff) if granted, otherwise `orders.read`. */
export const chooseOrderReadScope = ({ credential }: ProfileSession): 'orders.read' | 'orders.manage' =>
  credential?.scopes.includes('orders.manage') ? 'orders.manage' : 'orders.read';
