import { defaultLanguageTag } from './languages.ts';
import { readMessageCatalogs, type MessageCatalog } from './message-catalog.ts';
import { listMessageArguments } from './parse-message-and-list-arguments.ts';

/** Generates `messages.gen.ts` from the English catalog. This file contains the types of all messages and their arguments. */
export function generateMessageTypes(): string {
  const { language = {}, ...groups } = readMessageCatalogs().get(defaultLanguageTag) ?? {};
  const described = { language: typeof language === 'string' ? {} : { ...language, tag: '' }, ...groups };
  return `/** Generated from catalogs/en.json by \`npm run build\`. */\nexport type Messages = ${groupType(described)};\n`;
}

const groupType = (group: MessageCatalog): string =>
  `{ ${Object.entries(group)
    .map(([key, value]) => `readonly ${JSON.stringify(key)}: ${typeof value === 'string' ? messageType(value) : groupType(value)}`)
    .join('; ')} }`;

function messageType(message: string): string {
  const messageArguments = [...listMessageArguments(message, defaultLanguageTag)];
  if (messageArguments.length === 0) return 'string';
  return `(values: { ${messageArguments.map(([name, type]) => `readonly ${JSON.stringify(name)}: ${type}`).join('; ')} }) => string`;
}
