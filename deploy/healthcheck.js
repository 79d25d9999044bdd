// Exits with 0 if the server in this container responds, otherwise with 1. Load balancers use /readyz instead, to check whether the server
// is ready for requests.
const port = process.env.PORT ?? '3000';
const scheme = process.env.MANDATE_TLS_CERT ? 'https' : 'http';
const { get } = await import(`node:${scheme}`);
// The certificate is not checked, because it is for the public host name, and this connection does not leave the container.
const request = get({ host: '127.0.0.1', port, path: '/healthz', timeout: 2_500, rejectUnauthorized: false }, (answer) => {
  answer.resume();
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
});
request.on('timeout', () => request.destroy(new Error('no response in time')));
request.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
