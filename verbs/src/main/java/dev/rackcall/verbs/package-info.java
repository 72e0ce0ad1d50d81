/**
 * RDMA in its own words. A {@link dev.rackcall.verbs.Device} is opened into a {@link dev.rackcall.verbs.Context}; in it live protection
 * domains, memory regions, completion queues and queue pairs, with the meaning that libibverbs gives them. The same interface stands over
 * a real device and over a software device that needs no hardware, so whatever is written against it runs and is tested everywhere.
 * Start with {@link dev.rackcall.verbs.Devices} and {@link dev.rackcall.verbs.QueuePair}. Posting and polling allocate nothing.
 */
package dev.rackcall.verbs;
