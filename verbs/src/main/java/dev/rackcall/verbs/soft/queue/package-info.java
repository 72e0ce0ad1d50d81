/**
 * State of the software device that requesters and responders share: completion queues, asynchronous events and
 * {@link dev.rackcall.verbs.soft.queue.QueuePairCore}, the state of a queue pair. This package uses {@code memory} and
 * {@code wire}. It does not handle requests.
 */
package dev.rackcall.verbs.soft.queue;
