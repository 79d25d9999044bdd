import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates database functions, which entities cannot define. Like this migration, the SQL file must not change after a release. */
export class PlaceOrderV3 extends Migration {
  override name = '20261122040000_place_order_v3';

  override up(): void {
    // Formats a timestamp like the API, that is, as RFC 3339 in UTC with milliseconds.
    this.addSql(`create function mandate_instant_v1(moment timestamptz) returns text stable language sql
      return to_char(moment at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
    this.addSql(readFileSync(new URL('20261122040000_place_order_v3.sql', import.meta.url), 'utf8'));
  }
}
