/**
 * What the tests of all modules share. {@link dev.rackcall.testkit.ChildJvm} starts another JVM, waits for what it
 * prints, stops it and kills it; {@link dev.rackcall.testkit.Await} waits for conditions with a bound;
 * {@link dev.rackcall.testkit.Concurrently} runs work on threads; {@link dev.rackcall.testkit.Thrown} expects failures.
 * The package uses only the JDK, so every module can depend on it; the contract suites lie beside it as sources, because they compile
 * against the modules that they test.
 */
package dev.rackcall.testkit;
