// Whether the server in this container answers: exit code 0, otherwise 1. What answers, and how well, is for /readyz and whoever balances the load.
const port = process.env.PORT ?? '3000';
const scheme = process.env.MANDATE_TLS_CERT ? 'https' : 'http';
const { get } = await import(`node:${scheme}`);
// the certificate is for the name people use, and this does not leave the container
const request = get({ host: '127.0.0.1', port, path: '/healthz', timeout: 2_500, rejectUnauthorized: false }, (answer) => {
  answer.resume();
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
});
request.on('timeout', () => request.destroy(new Error('no answer in time')));
request.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
