/** Operations whose command is handwritten, because it sends more than one request, transfers a file or draws a chart. */
export const handwrittenCommandNamesByOperation: Readonly<Record<string, string>> = {
  'branding.setLogo': 'branding set-logo',
  'identityProviders.setLogo': 'identity-providers set-logo',
  'orderExports.create': 'orders export',
  'orderImports.create': 'orders import',
  'productImports.create': 'products import',
  'stats.orders': 'stats orders',
  'userExports.create': 'users export',
  'userImports.create': 'users import',
  'tasks.result': 'tasks result',
};
