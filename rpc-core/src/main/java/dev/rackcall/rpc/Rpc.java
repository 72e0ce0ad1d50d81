package dev.rackcall.rpc;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method of an {@link RpcService} as callable. The return type decides the style: a value or {@code void} is a
 * synchronous call, {@code CompletableFuture<T>} an asynchronous one, {@code Stream<T>} a server stream. One parameter
 * may be a {@code Stream<T>}, too.
 *
 * <p><b>What travels</b> as parameter, result or element, nested as deep as you like:
 * <ul>
 *   <li>primitives, their boxes, {@code String}, enums, arrays;
 *   <li>records, including generic ones with given type arguments; a recursive record may be nested up to 128 levels.
 *       {@link Default} lets a later version add components;
 *   <li>sealed interfaces whose permitted types are records, enums or such interfaces: one of these travels;
 *   <li>{@code List}, {@code Set}, {@code Map}, {@code Optional}; they arrive as modifiable copies in the same order;
 *   <li>{@code UUID}, {@code BigInteger}, {@code BigDecimal}, {@code URI}, {@code Locale}, {@code Currency}, and of
 *       {@code java.time} {@code Duration}, {@code Period}, {@code Instant}, {@code LocalDate}, {@code LocalTime},
 *       {@code LocalDateTime}, {@code OffsetTime}, {@code OffsetDateTime}, {@code ZonedDateTime}, {@code ZoneId},
 *       {@code ZoneOffset}, {@code Year}, {@code YearMonth}, {@code MonthDay};
 *   <li>shared interfaces ({@link dev.rackcall.shm.types.Shared}): only their Ref travels; {@code SharedString}, {@code
 *       SharedList} and the like travel as their fields;
 *   <li>{@code Bytes<?>} of Chronicle, with the module {@code rackcall-chronicle};
 *   <li>objects of the classes in {@link RpcService#registered}, and of their superclasses.
 * </ul>
 *
 * <p>Null does not travel: declare {@code Optional} where a value may be absent. A record whose constructor throws
 * never reaches a handler. A method declares no checked exception, because every failed call arrives as {@link
 * RpcException}; a handler throws one to choose the status. Default and static methods are not called remotely.
 *
 * <p><b>Futures.</b> An action attached to a future without an executor runs on the thread that waits for that future,
 * or on a virtual thread of its own. It may make calls and block. Cancelling the future, or completing it otherwise, as
 * {@code orTimeout} does, cancels the call.
 *
 * <p><b>Streams.</b> Close a stream that is not read to its end, for example with {@code try (Stream<T> s = ...)}.
 * Otherwise the server keeps it for a minute, or until its place is needed.
 *
 * <p>A stream that the caller passes is read on a virtual thread while the call lasts, at most 64 elements ahead of
 * what was sent, and is closed when the call ends. Its elements are values. The handler reads it until its call, or the
 * stream that it returns, ends; closing it stops the caller's stream. The failure of one side's stream reaches the
 * other side with its status; a handler whose client is gone gets UNAVAILABLE. A method that also returns a stream does
 * not wait for its handler. A call that cannot begin, for example because there is no server, leaves the caller's
 * stream alone.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface Rpc {
    /**
     * The caller does not wait, and does not learn what the handler did. A call that the queue has no room for throws;
     * one that is lost, for example because there is no server, is reported to the call's observer. Only for {@code
     * void} methods. Keep a shared argument until the handler has finished with it, which only another call can confirm.
     * If its scope is closed earlier, the call fails unnoticed.
     */
    boolean oneWay() default false;

    /**
     * Calling twice does no harm, so the channel repeats the call on another server, if it has one, after its connection to
     * the first was lost. Calls that pass shared objects, and streams of which elements have arrived, are not repeated.
     */
    boolean idempotent() default false;

    /**
     * The handler may store into the shared arguments, and the caller sees what it has stored once the call has
     * succeeded, in every isolation mode and over every transport. Without this, a store throws {@link
     * dev.rackcall.shm.ReadOnlyObjectException} in the handler, and the call fails with INTERNAL.
     *
     * <p>All shared arguments of such a call lie in one scope, and the handler may store only there. It cannot allocate
     * there: it stores values, and Refs of objects in that scope or of objects that it returns. The caller must not
     * change the scope during the call. After a call that failed, the arguments may hold some, all or none of the
     * handler's stores. Not for one-way methods and streams.
     */
    boolean writes() default false;

    /**
     * How shared arguments are isolated. A caller may choose another mode with {@link CallOptions#withIsolation}. If
     * isolation is declared, a server refuses calls whose shared arguments are passed as {@link Isolation#TRUSTED}.
     */
    Isolation isolation() default Isolation.DEFAULT;
}
