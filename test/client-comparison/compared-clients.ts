import { packWorkspaces } from '../package/pack-and-install.ts';

/** A client library. `program` is the source of a program that creates a client, as an application would. */
export type ComparedClient = { readonly name: string; readonly install: string; readonly program: string };

/** A Model Context Protocol server that runs as a child process, and lists its tools without connecting to its service. */
export type ComparedToolServer = {
  readonly name: string;
  readonly install: string;
  /** Path of the program in `node_modules`, and its arguments. */
  readonly command: readonly [program: string, ...argv: string[]];
  readonly env?: Readonly<Record<string, string>>;
};

const version = {
  octokit: '5.0.5',
  openapiFetch: '0.17.0',
  stripe: '23.1.0',
  supabase: '2.119.1',
} as const;

export async function listComparedClients(): Promise<ComparedClient[]> {
  const mandate = (await packWorkspaces())['client-sdk'];
  const createMandateClient = `import { createClient } from '@mandate/client-sdk';
globalThis.client = createClient({ baseUrl: 'https://shop.example', auth: 'token' });`;
  return [
    { name: '`@mandate/client-sdk`', install: mandate, program: createMandateClient },
    {
      name: '`@mandate/client-sdk` with sign-in',
      install: mandate,
      program: `${createMandateClient}
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
globalThis.signIn = browserSignIn;`,
    },
    {
      name: `\`openapi-fetch\` ${version.openapiFetch}`,
      install: `openapi-fetch@${version.openapiFetch}`,
      program: `import createClient from 'openapi-fetch';
globalThis.client = createClient({ baseUrl: 'https://shop.example' });`,
    },
    {
      name: `\`@supabase/supabase-js\` ${version.supabase}`,
      install: `@supabase/supabase-js@${version.supabase}`,
      program: `import { createClient } from '@supabase/supabase-js';
globalThis.client = createClient('https://shop.example', 'key');`,
    },
    {
      name: `\`octokit\` ${version.octokit}`,
      install: `octokit@${version.octokit}`,
      program: `import { Octokit } from 'octokit';
globalThis.client = new Octokit({ auth: 'token' });`,
    },
    {
      name: `\`stripe\` ${version.stripe}`,
      install: `stripe@${version.stripe}`,
      program: `import Stripe from 'stripe';
globalThis.client = new Stripe('sk_test_key');`,
    },
  ];
}

const toolServerVersion = { github: '2025.4.8', supabase: '0.13.0' } as const;

/** Stripe's tool server is not compared, because it lists its tools only with a valid key. */
export const comparedToolServers: readonly ComparedToolServer[] = [
  {
    name: `GitHub, \`@modelcontextprotocol/server-github\` ${toolServerVersion.github}`,
    install: `@modelcontextprotocol/server-github@${toolServerVersion.github}`,
    command: ['@modelcontextprotocol/server-github/dist/index.js'],
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'token' },
  },
  {
    name: `Supabase, \`@supabase/mcp-server-supabase\` ${toolServerVersion.supabase} without \`docs\``,
    install: `@supabase/mcp-server-supabase@${toolServerVersion.supabase}`,
    command: [
      '@supabase/mcp-server-supabase/dist/cli.js',
      `--access-token=sbp_${'0'.repeat(40)}`,
      // The feature `docs` is omitted, because it requires a connection.
      '--features=account,database,debugging,development,functions,branching,storage',
    ],
  },
];
