import { Counter, type Registry } from '@prometheus-io/client';
import type { OnTokenOperation } from '../oauth/provider/report-token-operations.ts';

export function registerTokenMetrics(registry: Registry): OnTokenOperation {
  const issued = new Counter({
    name: 'mandate_tokens_issued_total',
    help: 'Successful responses of the token endpoint, by grant type.',
    labelNames: ['grant_type'],
    registers: [registry],
  });
  const replayed = new Counter({
    name: 'mandate_refresh_responses_replayed_total',
    help: 'Repeated refresh requests that returned the first response within the grace period.',
    registers: [registry],
  });
  const rejected = new Counter({
    name: 'mandate_tokens_refused_total',
    help: 'Error responses of the token endpoint, by grant type and error (RFC 6749 section 5.2).',
    labelNames: ['grant_type', 'error'],
    registers: [registry],
  });
  const revoked = new Counter({
    name: 'mandate_tokens_revoked_total',
    help: 'Tokens revoked by an application (RFC 7009), access revoked by a user, and grants revoked because a code or refresh token was reused.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return (operation) => {
    if (operation.name === 'issued') issued.inc({ grant_type: operation.grantType });
    else if (operation.name === 'replayed') replayed.inc();
    else if (operation.name === 'refused') rejected.inc({ grant_type: operation.grantType, error: operation.error });
    else revoked.inc({ reason: operation.reason });
  };
}
