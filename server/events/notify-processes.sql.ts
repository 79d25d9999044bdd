import { prepareDeferredStatement } from '../database/queries/prepared-statement.ts';

/** Notification channel that all processes of a database use. */
const channel = 'mandate_events';

// SQL, because MikroORM has no NOTIFY.
export const notifyProcesses = prepareDeferredStatement('notify_processes', `select pg_notify('${channel}', $1)`);

// SQL, because MikroORM has no LISTEN.
/** Subscribes a dedicated connection to the channel. Sent again, it changes nothing and checks that the connection works. */
export const listenForNotifications = { text: `listen ${channel}`, values: [], query_timeout: 5_000 };
