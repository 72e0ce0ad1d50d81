/**
 * Subjects of the target {@code connect} that connect and close without a call: virtual queues of the control plane,
 * and reliable queue pairs. Start with {@link dev.rackcall.perf.connect.ConnectSides}; {@code ConnectServer} is what
 * they connect to.
 */
package dev.rackcall.perf.connect;
