/**
 * An RDMA device in software, over TCP: the interface of {@link dev.rackcall.verbs} for machines without a device. It keeps verbs' rules
 * (keys, rights, bounds, receive-not-ready, error states, flushing in order, atomics that know nothing of the processor's) and can be made
 * slow, lossy or cut by a {@link dev.rackcall.verbs.soft.FaultPlan}. To follow a request, read {@code SendQueue} (requester), {@code Link}
 * (one TCP connection), {@code FrameLayout} (the bytes) and {@code Responder} (the peer's side), in this order.
 */
package dev.rackcall.verbs.soft;
