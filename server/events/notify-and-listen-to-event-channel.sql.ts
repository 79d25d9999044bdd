import { prepareDeferredWrite } from '../database/queries/prepared-statement.ts';

/** Notification channel for all processes that share a database. */
const channel = 'mandate_events';

// Written in SQL because MikroORM does not support NOTIFY.
export const notifyEventChannel = prepareDeferredWrite('notify_processes', `select pg_notify('${channel}', $1)`);

// Written in SQL because MikroORM does not support LISTEN.
/** Subscribes a dedicated connection to the channel. Repeating the statement has no effect, except to check that the connection works. */
export const listenToEventChannelQuery = { text: `listen ${channel}`, values: [], query_timeout: 5_000 };
