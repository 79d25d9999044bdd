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
  /** Loads the page's component. */
  readonly load: () => Promise<ComponentType>;
};

type PageId = keyof typeof common extends infer Key ? (Key extends `page.${infer Id}` ? Id : never) : never;

/** All pages, in the order of the navigation. Each page's code is a chunk that is loaded when the page is opened. */
export const pages: readonly PageDefinition[] = [
  {
    id: 'home',
    path: '/',
    icon: 'home',
    operations: ['versions.list'],
    load: async () => (await import('./pages/home/home-page.tsx')).HomePage,
  },
  {
    id: 'orders',
    path: '/orders',
    icon: 'orders',
    operations: ['orders.list'],
    load: async () => (await import('./pages/orders/order-pages.tsx')).OrderPages,
  },
  {
    id: 'products',
    path: '/products',
    icon: 'products',
    operations: ['products.list'],
    load: async () => (await import('./pages/products/product-pages.tsx')).ProductPages,
  },
  {
    id: 'customers',
    path: '/customers',
    icon: 'customers',
    operations: ['users.list'],
    load: async () => (await import('./pages/customers/customer-pages.tsx')).CustomerPages,
  },
  {
    id: 'applications',
    path: '/applications',
    icon: 'applications',
    operations: ['applications.list'],
    load: async () => (await import('./pages/applications/application-pages.tsx')).ApplicationPages,
  },
  {
    id: 'developers',
    path: '/developers',
    icon: 'developers',
    operations: ['webhooks.list', 'events.list', 'apiKeys.list', 'signingKeys.rotate'],
    load: async () => (await import('./pages/developers/developer-pages.tsx')).DeveloperPages,
  },
  {
    id: 'audit',
    path: '/audit',
    icon: 'audit',
    operations: ['auditEvents.list'],
    load: async () => (await import('./pages/audit/audit-pages.tsx')).AuditPages,
  },
  {
    id: 'settings',
    path: '/settings',
    icon: 'settings',
    operations: ['branding.update', 'deliveryMethods.replace', 'users.list', 'identityProviders.list', 'backups.list'],
    load: async () => (await import('./pages/settings/settings-pages.tsx')).SettingsPages,
  },
];
