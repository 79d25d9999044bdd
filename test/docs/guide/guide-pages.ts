/** Pages of the integrator's guide, in the order in which a reader runs their examples. */
export const guidePages = [
  'docs/integrator-guide.md',
  'docs/integrator-guide/sign-in.md',
  'docs/integrator-guide/tokens.md',
  'docs/integrator-guide/requests.md',
  'docs/integrator-guide/orders.md',
  'docs/integrator-guide/webhooks.md',
] as const;
