/**
 * Meters for Micrometer: {@link dev.rackcall.metrics.CallMetrics} times every call of a channel or a server, the binders
 * show the states of channels, servers and isolation. The runtime knows nothing of this module: it gets interceptors.
 */
package dev.rackcall.metrics;
