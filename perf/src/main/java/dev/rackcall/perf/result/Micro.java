package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonInclude;

/**
 * The mean or median time of one small operation, as JMH or the objects target measured it.
 *
 * @param name class and method, with parameters; or the subject
 * @param nsPerOp time of one operation in nanoseconds
 * @param errorNs JMH: half of the 99.9 % confidence interval; objects: the median deviation; in nanoseconds
 * @param allocBPerOp bytes of Java heap that one operation allocates
 * @param bytes length of what it writes or reads; 0 if that has no length
 */
public record Micro(
        String name,
        double nsPerOp,
        double errorNs,
        double allocBPerOp,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) long bytes) {
    /** Without a length. */
    public Micro(String name, double nsPerOp, double errorNs, double allocBPerOp) {
        this(name, nsPerOp, errorNs, allocBPerOp, 0);
    }

    /** The target that measured it. */
    public BenchTarget target() {
        return name.startsWith("objects-") ? BenchTarget.OBJECTS : BenchTarget.JMH;
    }
}
