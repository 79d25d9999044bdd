import { Migration } from '@mikro-orm/migrations';

/** SQL for the scopes that the application is preapproved for and that the user did not consent to. */
const unconsented = (clientId: string, userId: string): string => `array(
  select scope from applications a, unnest(a.preapproved_scopes) scope where a.client_id = ${clientId}
  except select scope from applications a join consents c on c.application_id = a.id, unnest(c.scopes) scope
    where a.client_id = ${clientId} and c.user_id = ${userId})`;

export class PreapprovedAccess extends Migration {
  override name = '20261122130000_preapproved_access';

  /**
   * In existing grants and keys, a scope counts as preapproved if the application is preapproved for this scope and the user has not
   * consented to it.
   */
  override up(): void {
    for (const [table, clientId] of [
      ['connections', 'client_id'],
      ['api_keys', 'created_by_client_id'],
    ]) {
      this.addSql(`alter table ${table} add column preapproved_scopes text[] not null default '{}';`);
      this.addSql(`update ${table} t set preapproved_scopes = ${unconsented(`t.${clientId}`, 't.user_id')}
        where t.${clientId} in (select a.client_id from applications a where a.preapproved_scopes <> '{}');`);
    }
  }
}
