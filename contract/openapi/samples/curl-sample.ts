import { type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';
import { type SampleCall, quoteShellWord } from './sample-call-and-shell-quoting.ts';

/** Returns the curl command for a sample call. */
export function createCurlSample(call: SampleCall): string {
  const { method, body, file, idempotent, requiresIfMatch: anyVersion, needsToken, resultKind: gives } = call;
  const contentType = body ? 'application/json' : file?.mediaType;
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoteShellWord(urlOf(call))}`,
    // The double quotes let the shell expand the variable.
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(contentType === undefined ? [] : [`-H 'Content-Type: ${contentType}'`]),
    ...(idempotent ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(anyVersion ? [`-H 'If-Match: *'`] : []),
    ...(body ? [`-d ${quoteShellWord(JSON.stringify(body.value, null, 2))}`] : []),
    ...(file ? [`--data-binary @${file.name}`] : []),
    ...(gives === 'file' ? ['-O -J'] : []),
  ].join(' \\\n  ');
}

function urlOf({ origin, path, pathValues, query }: SampleCall): string {
  const expandedPath = pathValues.reduce((text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)), path);
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(queryValue(value))}`);
  return `${origin}${expandedPath}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
}

const queryValue = (value: JsonValue): string =>
  Array.isArray(value) ? value.map(jsonPrimitiveToText).join(',') : jsonPrimitiveToText(value);
