/**
 * Meters for Micrometer: {@link dev.rackcall.metrics.CallMetrics} counts and times the calls of channels and servers, the
 * binders show the states of channels, servers and isolation. {@link dev.rackcall.metrics.CallEvents} needs only the JDK.
 * The runtime knows nothing of this module: it gets {@link dev.rackcall.rpc.CallMeter}s.
 */
package dev.rackcall.metrics;
