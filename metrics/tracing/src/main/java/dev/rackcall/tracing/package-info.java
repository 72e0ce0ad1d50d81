/**
 * Spans for OpenTelemetry: {@link dev.rackcall.tracing.CallTracing} gives each call a span at its client and one at its
 * server, and carries the context from the one to the other in the call's headers. The runtime knows nothing of this
 * module: it gets interceptors.
 */
package dev.rackcall.tracing;
