import { Migration } from '@mikro-orm/migrations';

export class Branding extends Migration {
  override name = '20261123150000_branding';

  override up(): void {
    this.addSql(
      `create table "branding" ("id" int not null, "name" text not null, "accent_color" text not null, "help_url" text null, "terms_url" text null, "privacy_url" text null, "email_sender_name" text null, "email_footer" text null, "logo_hash" text null, "logo_media_type" text null, "logo_width" int null, "logo_height" int null, "logo_content" bytea null, "version" int not null default 1, primary key ("id"));`,
    );
    this.addSql(`alter table "branding" add constraint "branding_id_check" check (id = 1);`);
    this.addSql(`alter table "branding" add constraint "branding_name_check" check (length(name) >= 1 and length(name) <= 60);`);
    this.addSql(`alter table "branding" add constraint "branding_accent_color_check" check (accent_color ~ '^#[0-9a-f]{6}$');`);
    this.addSql(
      `alter table "branding" add constraint "branding_logo_content_check" check (length(logo_content) >= 1 and length(logo_content) <= 262144);`,
    );
  }
}
