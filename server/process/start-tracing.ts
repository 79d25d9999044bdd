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
import type { Config } from '../config/read-config.ts';
import type { Log } from '../logging/logger.ts';

const exportTimeoutMs = 5_000;
const warningIntervalMs = 60_000;
/** Requests for health checks and metrics are frequent and not worth tracing. */
const ignoredPaths = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Exports traces of requests and their SQL statements to an OTLP collector. Must be called before the instrumented modules are loaded.
 * Returns a function that sends the remaining spans and stops tracing.
 */
export async function startTracing({ url, share }: NonNullable<Config['traces']>, log: Log): Promise<() => Promise<void>> {
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  warnAboutExportErrors(log);
  const exporter = new OTLPTraceExporter({ url: `${url.replace(/\/$/, '')}/v1/traces`, timeoutMillis: exportTimeoutMs });
  // The sampling decision of the client is ignored.
  const sampler = new TraceIdRatioBasedSampler(share);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'mandate' }),
    sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler, remoteParentNotSampled: sampler }),
    spanProcessors: [
      removeSecrets(new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000, exportTimeoutMillis: exportTimeoutMs })),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url: requestUrl }) => ignoredPaths.has(requestUrl ?? ''),
        disableOutgoingRequestInstrumentation: true,
      }),
      // This instrumentation only sets the route on the request span, because one span per middleware would not be useful.
      new ExpressInstrumentation({
        ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER, ExpressLayerType.REQUEST_HANDLER],
      }),
      new PgInstrumentation({ requireParentSpan: true }),
    ],
  });
  return () => provider.shutdown().catch(() => undefined);
}

/** Span attributes that may be exported. Other attributes may contain user data, such as URL queries, headers and error messages. */
const allowedAttributes = new Set([
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

const pickAllowed = (attributes: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) => allowedAttributes.has(name) && (name !== 'db.query.text' || hasBoundParameters(value)),
    ),
  );

/** Named statements have bound parameters, whereas MikroORM inlines values into its own statements. */
const hasBoundParameters = (text: unknown): boolean => typeof text === 'string' && text.startsWith('/*');

function removeSecrets(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, parent) => next.onStart(span, parent),
    onEnd(span) {
      const cleaned: PropertyDescriptorMap = {
        attributes: { value: pickAllowed(span.attributes) },
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

const ignore = (): void => undefined;

/** Warns at most once per minute when the collector is unreachable; requests are not affected. */
function warnAboutExportErrors(log: Log): void {
  let lastWarningAt = Number.NEGATIVE_INFINITY;
  const error = (): void => {
    if (performance.now() - lastWarningAt < warningIntervalMs) return;
    lastWarningAt = performance.now();
    log.warn('traces cannot be sent to the collector at OTEL_EXPORTER_OTLP_ENDPOINT');
  };
  diag.setLogger({ error, warn: ignore, info: ignore, debug: ignore, verbose: ignore });
}
