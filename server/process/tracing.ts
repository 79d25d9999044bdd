import { register } from 'node:module';
import { context, diag, propagation, trace, type Attributes } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../config/config.ts';
import type { Log } from '../logging/logger.ts';

const exportMs = 5_000;
const warningEveryMs = 60_000;
/** Asked all the time, and by nobody who waits for anything. */
const unwatched = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Traces of requests and their statements, sent to a collector. What is watched is changed as it is loaded, so it must be loaded
 * afterwards. Gives the function that sends what is left and ends it.
 */
export async function startTracing({ url, share }: NonNullable<Config['traces']>, log: Log): Promise<() => Promise<void>> {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  warnNowAndThen(log);
  const exporter = new OTLPTraceExporter({ url: `${url.replace(/\/$/, '')}/v1/traces`, timeoutMillis: exportMs });
  // callers do not decide how much is traced here
  const sampler = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'mandate' }),
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler, remoteParentNotSampled: sampler }),
    spanProcessors: [withoutSecrets(new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000, exportTimeoutMillis: exportMs }))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url: asked }) => unwatched.has(asked ?? ''),
        disableOutgoingRequestInstrumentation: true,
      }),
      // it tells the span of the request its route; a span for each of the stations on the way says nothing more
      new ExpressInstrumentation({
        ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER, ExpressLayerType.REQUEST_HANDLER],
      }),
      new PgInstrumentation({ requireParentSpan: true }),
    ],
  });
  return () => provider.shutdown().catch(() => undefined);
}

/** What a span may tell. Everything else may hold what somebody has sent: addresses with their query, headers, messages of errors. */
const told = new Set([
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'url.scheme',
  'network.protocol.version',
  'server.address',
  'server.port',
  'error.type',
  'db.system.name',
  'db.namespace',
  'db.operation.name',
  'db.query.text',
  'db.response.status_code',
]);

const allowed = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name, value]) => told.has(name) && (name !== 'db.query.text' || isBound(value))));

/** Statements with a name have their values bound to them; MikroORM writes them into its own. */
const isBound = (text: unknown): boolean => typeof text === 'string' && text.startsWith('/*');

function withoutSecrets(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, parent) => next.onStart(span, parent),
    onEnd(span) {
      const cleaned: PropertyDescriptorMap = {
        attributes: { value: allowed(span.attributes) },
        events: { value: [] },
        links: { value: [] },
        status: { value: { code: span.status.code } },
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it inherits everything else
      next.onEnd(Object.create(span, cleaned) as ReadableSpan);
    },
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}

const quiet = (): void => undefined;

/** A collector that is away costs no request anything, and is said once a minute. */
function warnNowAndThen(log: Log): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const error = (): void => {
    if (performance.now() - warnedAt < warningEveryMs) return;
    warnedAt = performance.now();
    log.warn('traces cannot be sent: is there a collector at OTEL_EXPORTER_OTLP_ENDPOINT?');
  };
  diag.setLogger({ error, warn: quiet, info: quiet, debug: quiet, verbose: quiet });
}
