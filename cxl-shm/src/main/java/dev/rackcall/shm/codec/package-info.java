/**
 * Encodes ordinary Java values in a call's memory: fixed-width little-endian primitives without padding, everything
 * else behind a length or a count. {@link dev.rackcall.shm.codec.PayloadWriter} encodes into memory that can grow,
 * {@link dev.rackcall.shm.codec.PayloadReader} decodes memory that an untrusted peer wrote. Generated code uses them;
 * start with the table in {@code PayloadWriter}.
 */
package dev.rackcall.shm.codec;
