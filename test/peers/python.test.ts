import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectSignOut, signInWithClientProgram } from './client-program.ts';
import { hasPythonModule, python } from '../support/python.ts';
import { useServer } from '../support/server/use-server.ts';

describe('a Python client', () => {
  const server = useServer();

  test.for([
    ['authlib', 'authlib_client.py', 'python3-authlib'],
    ['authlib', 'authlib_openid_client.py', 'python3-authlib'],
    ['requests_oauthlib', 'requests_oauthlib_client.py', 'python3-requests-oauthlib'],
  ] as const)(
    'with %s in %s signs a user in, refreshes the tokens, and reads the user',
    async ([module, script, debianPackage], { skip }) => {
      skip(!hasPythonModule(module), `requires the Debian package ${debianPackage}`);
      const { user, output } = await signInWithClientProgram(server, [python, join(import.meta.dirname, script)]);
      expect(output).toMatchObject({ id: user.id, email: user.email });
      if (output.sign_out !== undefined) await expectSignOut(user, output.sign_out);
    },
  );
});
