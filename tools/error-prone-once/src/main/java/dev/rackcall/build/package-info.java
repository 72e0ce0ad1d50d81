/**
 * Parts of this project's own build, which users of Rackcall do not need: {@link dev.rackcall.build.ErrorProneOnce}, by
 * which javac finds Error Prone. It is compiled without Error Prone, and for the oldest JDK that Maven may run on.
 */
package dev.rackcall.build;
