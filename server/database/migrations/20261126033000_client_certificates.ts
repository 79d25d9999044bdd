import { Migration } from '@mikro-orm/migrations';

/** Authentication of applications with certificates, and access tokens that are bound to certificates. */
export class ClientCertificates extends Migration {
  override name = '20261126033000_client_certificates';

  override up(): void {
    this.addSql(`alter table "applications"
      add column "certificate_auth_method" text null,
      add column "tls_client_auth_subject" jsonb null,
      add column "tls_client_certificate_bound_access_tokens" boolean not null default false,
      add constraint "applications_certificate_auth_method_check"
        check ("certificate_auth_method" in ('tls_client_auth', 'self_signed_tls_client_auth')) not valid;`);
  }
}
