/**
 * The document store in several processes, once by pointer and once serialised over a Unix domain socket, measured side by side. Start with
 * {@link dev.rackcall.samples.demo.Demo}, which conducts; {@link dev.rackcall.samples.demo.DemoProcess} is what its servers and clients run.
 */
package dev.rackcall.samples.demo;
