/** Help topics that apply to every command, by name: `mandate help <topic>`. */
export const helpTopics: Readonly<Record<string, { readonly summary: string; readonly text: string }>> = {
  'exit-codes': {
    summary: 'exit codes of all commands',
    text: `Exit codes

   0  success, even if a list is empty
   1  unexpected error
   2  invalid command line, or confirmation needed while prompts are disabled; nothing was sent
   3  you declined the confirmation
   4  sign-in required
   5  not allowed
   6  not found, or no longer available
   7  conflict with the current state
   8  the service rejected the input, or an import rejected rows or orders
   9  too many requests
  10  server error
  11  no response from the service
  12  the task, payment or order reached an unexpected final state
  13  --max-wait elapsed; the task, payment or order is still in progress
 130  interrupted by Ctrl-C
 143  terminated by SIGTERM
`,
  },
  environment: {
    summary: 'environment variables',
    text: `Environment

Flags override environment variables, and environment variables override the profile (mandate config).

  MANDATE_API_URL            URL of the service
  MANDATE_PROFILE            name of the profile
  MANDATE_TOKEN              access token or API key that overrides the sign-in and is never stored or renewed
  MANDATE_TIMEOUT            timeout for each request, such as 30s
  MANDATE_STORAGE            where to store the refresh token: auto, keyring or file
  MANDATE_CONFIG_DIR         configuration directory (default: ~/.config/mandate, or %APPDATA%\\mandate on Windows)
  MANDATE_DEBUG              1 logs requests to standard error
  MANDATE_ALLOW_INSECURE     1 allows plain http to other machines, which sends tokens unencrypted
  CI                         any value disables prompts
  NO_COLOR, FORCE_COLOR      disable or force colored output
`,
  },
  formats: {
    summary: 'output formats',
    text: `Formats

Standard output contains only the result. Notices, prompts, progress and errors go to standard error.

  on a terminal    a table that fits the terminal, with formatted amounts and local times
  in a pipe        tab-separated values without a header, not truncated, with times in UTC
  --json           the response body as one JSON document
  --jsonl          lists as one JSON value per line
  --fields a,b.c   only these fields
  --get a.b        only the values at this path, one per line
  --jq <filter>    the results of a jq filter, one per line; strings without quotes
  --all            every page of a list

With --json and --jsonl, an error is printed to standard error as one line of JSON:
  {"error":{"code":"order_not_found","status":404,"message":"...","requestId":"...","exitCode":6}}
`,
  },
  'sign-in': {
    summary: 'how to sign in',
    text: `Signing in

  mandate login                     opens the browser on this machine, or prints a code if no browser can be opened
  mandate login --device            prints a code that you enter in a browser on any machine
  mandate login --no-browser        prints the URL; for use with ssh -L, set the port with --port
  mandate login --with-token        reads an access token or API key from standard input
  mandate login --scopes +orders.manage   requests a scope in addition to those already granted

Access tokens are stored in a file that only you can read. Refresh tokens are stored in the system keyring if there is one
(--storage keyring), otherwise in the same file. Tokens are sent only to the origin that you signed in to.
To use several services or accounts: mandate profile create work --api-url <url>, then mandate login --profile work.
`,
  },
};
