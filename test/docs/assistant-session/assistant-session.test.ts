import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../../support/markdown.ts';
import { startClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { recordAssistantSession } from './record-assistant-session.ts';

requireOneProcess('the server fetches documents from loopback');

/** `npm run assistant:record` replaces the document. */
test('the recorded session of an assistant is up to date', async () => {
  const documents = await startClientMetadataServer();
  const mandate = await startMandateServer({ documentNetwork: documents.networkPolicy });
  const session = await recordAssistantSession(mandate, documents);
  await mandate.close();
  await documents.close();
  expect(session).toContain('(limit_exceeded)');
  await expect(session).toMatchFileSnapshot(join(repositoryRoot, 'docs/assistants/recorded-session.md'));
}, 60_000);
