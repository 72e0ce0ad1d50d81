/**
 * Small programs that each show one thing: {@code quickstart}, the fewest lines that make a call, and {@code documents}, a store of documents in
 * shared memory. Start with {@link dev.rackcall.samples.DemoCommand}, which runs that store in several processes and measures it.
 */
package dev.rackcall.samples;
