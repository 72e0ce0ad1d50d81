/**
 * An RDMA device in software, over TCP: the interface of {@link dev.rackcall.verbs} for machines without a device. It
 * keeps verbs' rules (keys, rights, bounds, receive-not-ready, error states, flushing in order);
 * {@link dev.rackcall.verbs.soft.FaultPlan} injects faults for tests. To follow a request, read
 * {@code requester.SendQueue}, {@code wire.Link}, {@code wire.FrameLayout} and {@code responder.Responder}, in this
 * order.
 */
package dev.rackcall.verbs.soft;
