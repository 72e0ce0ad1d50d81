/**
 * Subjects of the target {@code isolation}: calls that pass a scope in each isolation mode
 * ({@link dev.rackcall.perf.isolation.IsolationCall}), their parts measured alone ({@code LocalSubjects},
 * {@code SealSubjects}), and a client beside hostile neighbours. {@link dev.rackcall.perf.isolation.IsolationSubjects}
 * lists them all.
 */
package dev.rackcall.perf.isolation;
