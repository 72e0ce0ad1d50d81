/**
 * The RDMA side of the benchmark: the device of a run ({@link dev.rackcall.perf.rdma.BenchDevice}), reliable queue
 * pairs whose ends find each other by TCP ({@link dev.rackcall.perf.rdma.RcDevice},
 * {@link dev.rackcall.perf.rdma.RcServer}), and the ping-pong that is the floor under calls over RDMA
 * ({@link dev.rackcall.perf.rdma.SoftPingPong}).
 */
package dev.rackcall.perf.rdma;
