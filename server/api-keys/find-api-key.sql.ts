import type { Scope } from '@mandate/contract';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';

type ApiKeyStatusRow = {
  id: number;
  scopes: Scope[];
  expires_at: string;
  revoked_at: string | null;
  user_id: number;
  role: NonNullable<Principal['user']>['role'];
  user_status: string;
  application_status: string | null;
};

// Written in SQL because this statement runs for every request with an API key (see the `read-order` benchmark).
export const findApiKeyByHash = prepareStatement<ApiKeyStatusRow>(
  'verify_api_key',
  `select k.id, k.scopes, k.expires_at, k.revoked_at, u.id as user_id, u.role, u.status as user_status, a.status as application_status
   from api_keys k join users u on u.id = k.user_id left join applications a on a.client_id = k.created_by_client_id where k.secret_hash = $1`,
);
