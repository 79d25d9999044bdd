/** What holds for every command, by the word behind `mandate help`. */
export const helpTopics: Readonly<Record<string, { readonly summary: string; readonly text: string }>> = {
  'exit-codes': {
    summary: 'what a command ends with',
    text: `Exit codes

   0  done; an empty list is no failure
   1  unforeseen
   2  the command line is not valid, or nobody was there to confirm; nothing was sent
   3  you said no
   4  sign-in needed
   5  not allowed
   6  not found, or no longer kept
   7  conflict with the current state
   8  the service refused the input, or an import rejected rows or orders
   9  too many requests
  10  trouble of the service
  11  no answer
  12  what was waited for ended in another way
  13  --max-wait is over; what was waited for goes on
 130  interrupted by Ctrl-C
 143  ended by SIGTERM
`,
  },
  environment: {
    summary: 'variables that are listened to',
    text: `Environment

A flag wins over the environment, the environment over the profile (mandate config).

  MANDATE_API_URL            where the service is
  MANDATE_PROFILE            which profile
  MANDATE_TOKEN              an access token or API key that wins over signing in; neither kept nor renewed
  MANDATE_TIMEOUT            for each request: 30s
  MANDATE_STORAGE            where the refresh token is kept: auto, keyring or file
  MANDATE_CONFIG_DIR         in place of ~/.config/mandate, on Windows %APPDATA%\\mandate
  MANDATE_DEBUG              1 prints on standard error what is asked
  MANDATE_ALLOW_INSECURE     1 allows plain http to other machines: tokens then travel readable
  CI                         nobody is asked anything
  NO_COLOR, FORCE_COLOR      no colour, colour
`,
  },
  formats: {
    summary: 'what is printed, and where',
    text: `Formats

Standard output carries the result and nothing else; notices, questions, progress and failures go to standard error.

  on a terminal    a table that fits it; money and local time for people
  in a pipe        tab-separated text without a head: nothing cut, times in UTC
  --json           the body as the API sent it, one document
  --jsonl          lists as one JSON value per line
  --fields a,b.c   only these
  --get a.b        bare values, one per line
  --jq <filter>    the results of a jq filter, one per line; text without quotes
  --all            every page of a list

With --json and --jsonl a failure is one line of JSON on standard error:
  {"error":{"code":"order_not_found","status":404,"message":"...","requestId":"...","exitCode":6}}
`,
  },
  'sign-in': {
    summary: 'whom a command acts for',
    text: `Signing in

  mandate login                     in the browser of this machine, or by a code where there is none
  mandate login --device            by a code, on any other machine
  mandate login --no-browser        prints the address; over ssh -L, choose the port with --port
  mandate login --with-token        an access token or API key from standard input
  mandate login --scopes +orders.manage   asks for more than was granted before

Access tokens are kept in a file that only you can read. Refresh tokens are kept in the keyring of the system where it has one
(--storage keyring), otherwise in the same file. Tokens are sent to no other origin than the one signed in to.
Several services or people: mandate profile create work --api-url <url>, then mandate login --profile work.
`,
  },
};
