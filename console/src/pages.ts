import type { ComponentType } from 'react';
import type { Operation } from './api/permissions.tsx';
import type { IconName } from './components/icon.tsx';
import type common from './languages/messages/en.json';

export type PageDefinition = {
  /** Name of the page's folder and of its message catalogs. The title of the page is the common message `page.ID`. */
  readonly id: PageId;
  /** Path below `/console`. The page's component handles all paths that begin with this path. */
  readonly path: string;
  readonly icon: IconName;
  /** The page is shown if any of these operations is permitted. */
  readonly operations: readonly Operation[];
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
};

type PageId = keyof typeof common extends infer Key ? (Key extends `page.${infer Id}` ? Id : never) : never;

/** All pages, in the order of the navigation. Each page's code is a chunk that is loaded when the page is opened. */
export const pages: readonly PageDefinition[] = [
  { id: 'home', path: '/', icon: 'home', operations: ['versions.list'], load: () => import('./pages/home/home-page.tsx') },
  { id: 'orders', path: '/orders', icon: 'orders', operations: ['orders.list'], load: () => import('./pages/orders/orders-page.tsx') },
  {
    id: 'products',
    path: '/products',
    icon: 'products',
    operations: ['products.list'],
    load: () => import('./pages/products/products-page.tsx'),
  },
  {
    id: 'customers',
    path: '/customers',
    icon: 'customers',
    operations: ['users.list'],
    load: () => import('./pages/customers/customers-page.tsx'),
  },
  {
    id: 'applications',
    path: '/applications',
    icon: 'applications',
    operations: ['applications.list'],
    load: () => import('./pages/applications/applications-page.tsx'),
  },
  {
    id: 'developers',
    path: '/developers',
    icon: 'developers',
    operations: ['webhooks.list', 'events.list', 'apiKeys.list', 'signingKeys.rotate'],
    load: () => import('./pages/developers/developers-page.tsx'),
  },
  { id: 'audit', path: '/audit', icon: 'audit', operations: ['auditEvents.list'], load: () => import('./pages/audit/audit-page.tsx') },
  {
    id: 'settings',
    path: '/settings',
    icon: 'settings',
    operations: ['branding.update', 'deliveryMethods.replace', 'users.list', 'identityProviders.list', 'backups.list'],
    load: () => import('./pages/settings/settings-page.tsx'),
  },
];
