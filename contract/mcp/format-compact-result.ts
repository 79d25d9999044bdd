import { isJsonObject, type JsonObject, type JsonValue } from '../schema/json.ts';

/**
 * Formats an API response for an assistant. The rows of a list become a table with tab-separated cells, because JSON would repeat the field
 * names in every row. Empty columns, `version` and `updated_at` are omitted. The structured content of the result has all fields.
 */
export function formatCompactResult(body: JsonObject): string {
  const { data, has_more: _, ...rest } = body;
  if (!Array.isArray(data) || !data.every(isJsonObject)) return JSON.stringify(body);
  const details = Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null));
  const columns = [...new Set(data.flatMap((row) => Object.keys(row)))].filter(
    (name) => !omittedColumns.has(name) && data.some((row) => !isEmpty(row[name])),
  );
  const lines = [columns, ...data.map((row) => columns.map((name) => formatCell(row[name])))].map((cells) => cells.join('\t'));
  return [data.length === 0 ? 'No results.' : lines.join('\n'), ...(Object.keys(details).length > 0 ? [JSON.stringify(details)] : [])].join(
    '\n',
  );
}

const omittedColumns: ReadonlySet<string> = new Set(['updated_at', 'version']);

const isEmpty = (value: JsonValue | undefined): boolean =>
  value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

const formatCell = (value: JsonValue | undefined): string =>
  isEmpty(value) ? '' : typeof value === 'string' ? value.replaceAll(/[\t\r\n]+/g, ' ') : JSON.stringify(value);
