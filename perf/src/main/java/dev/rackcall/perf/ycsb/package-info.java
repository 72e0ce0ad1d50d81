/**
 * The target {@code ycsb}: the key-value service {@link dev.rackcall.perf.ycsb.RecordService} under YCSB's own generator,
 * beside Redis, memcached and the same service over grpc-java. {@code RecordDb} is YCSB's binding, {@code YcsbPeer} lists
 * what connects it with the records, {@code YcsbClient} is a process with client threads, and
 * {@link dev.rackcall.perf.ycsb.YcsbTarget} runs them all in turns. Every record that is read is checked.
 */
package dev.rackcall.perf.ycsb;
