package dev.rackcall.perf.result;

/**
 * What JMH measured for one method.
 *
 * @param name class and method, with parameters
 * @param nsPerOp mean time of one operation in nanoseconds
 * @param errorNs half of the 99.9 % confidence interval, in nanoseconds
 * @param allocBPerOp bytes of Java heap that one operation allocates
 */
public record Micro(String name, double nsPerOp, double errorNs, double allocBPerOp) {}
