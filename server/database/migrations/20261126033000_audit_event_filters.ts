import { Migration } from '@mikro-orm/migrations';

/** Indexes for listing audit events by actor and by application. */
export class AuditEventFilters extends Migration {
  override name = '20261126033000_audit_event_filters';

  override up(): void {
    this.addSql(`create index "audit_events_actor" on "audit_events" ("actor_id", "occurred_at", "id");`);
    this.addSql(`create index "audit_events_client" on "audit_events" ("client_id", "occurred_at", "id");`);
  }
}
