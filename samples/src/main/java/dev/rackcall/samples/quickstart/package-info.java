/** The quick start of the README, line for line: a service, its server and a client in one file, {@link dev.rackcall.samples.quickstart.Door}. */
package dev.rackcall.samples.quickstart;
