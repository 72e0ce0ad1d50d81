/**
 * The command {@code rackcall demo}: a document store in several processes, the same store on three hosts, and small samples.
 * {@code quickstart} is the README's program, {@code tour} shows one thing each, {@code documents} is the store and {@code demo} runs it.
 * Start with {@link dev.rackcall.samples.DemoCommand}.
 */
package dev.rackcall.samples;
