package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an interface as a shared type: its objects lie in an arena and are passed by pointer. The annotation processor
 * decides the layout and generates a flyweight {@code <Name>_Shared}.
 *
 * <pre>{@code
 * @Shared
 * public interface Document {
 *     long id();
 *     Document id(long value);             // a setter returns void or the interface
 *
 *     String title();
 *     Document title(String value);
 *
 *     @FixedString(16) String code();
 *     Document code(String value);
 *
 *     @Inline Point position();            // in place: no setter
 *
 *     @Length(8) SharedLongArray scores(); // in place: no setter
 *
 *     Optional<Author> author();
 *     Document author(Optional<Author> value);
 *
 *     Ref<Document> next();
 *     Document next(Ref<Document> value);
 *     boolean next(Document into);         // moves a flyweight
 *
 *     SharedList<Document> children();
 *     Document children(SharedList<Document> value);
 * }
 *
 * Document document = scope.create(Document.class).id(7).title("Rackcall"); }</pre>
 *
 * <p>A field consists of a getter and a setter with the same name and type. The processor ignores static, default and
 * private methods. Interfaces may extend others.
 *
 * <table>
 * <caption>What a field may be</caption>
 * <tr><th>Java type</th><th>in the record</th><th>value before it is set</th></tr>
 * <tr><td>a primitive</td><td>its natural size</td><td>0 or false</td></tr>
 * <tr><td>an enum</td><td>its ordinal, 2 bytes</td><td>the first constant</td></tr>
 * <tr><td>{@link FixedString @FixedString} {@code String}</td><td>length and UTF-8 in place</td><td>""</td></tr>
 * <tr><td>{@code String}, {@code byte[]}</td><td>a Ref to a copy</td><td>empty</td></tr>
 * <tr><td>{@link Inline @Inline} shared type</td><td>its fields in place</td><td>all its fields unset</td></tr>
 * <tr><td>{@link Length @Length} array</td><td>its elements in place</td><td>zeros</td></tr>
 * <tr><td>a shared type or container {@code T}</td><td>a Ref</td><td>{@code RefException}</td></tr>
 * <tr><td>{@code Optional} of a reference, {@code String} or {@code byte[]}</td><td>a Ref</td><td>{@code
 * Optional.empty()}</td></tr>
 * <tr><td>{@code Ref}{@code <T>}</td><td>a Ref</td><td>{@code Ref.nullRef()}</td></tr>
 * </table>
 *
 * <p>Containers are {@link SharedString}, {@link SharedBytes}, {@link SharedIntArray}, {@link SharedLongArray}, {@link
 * SharedFloatArray}, {@link SharedDoubleArray}, {@link SharedArray}, {@link SharedInlineArray}, {@link SharedList},
 * {@link SharedIntList}, {@link SharedLongList}, {@link SharedDoubleList}, {@link SharedStringMap} and {@link
 * SharedLongMap}.
 *
 * <h2>Which reference type to choose</h2>
 *
 * <p>Use {@code T} if the reference is always set, {@code Optional<T>} if it may be absent, and {@code Ref<T>} if it is
 * passed on more often than followed. All three have the same layout, so one side may change the type without the
 * other.
 *
 * <p>A getter creates a flyweight on the Java heap each time. For walks over many objects, an {@code Optional} or
 * {@code Ref} field may have one more accessor, {@code boolean name(T into)}. It moves an existing flyweight, possibly
 * the one it is called on, to the referenced object and allocates nothing. If the reference is null, it returns false
 * and moves nothing.
 *
 * <pre>{@code
 * do {
 *     sum += cursor.year();
 * } while (cursor.next(cursor));
 * }</pre>
 *
 * A peer can build a cyclic chain, so bound the number of steps of such a walk.
 *
 * <h2>Memory and lifetime</h2>
 *
 * <p>An object lives in the {@code Scope} that created it and ends with it. Setters of {@code String} and {@code
 * byte[]}, and containers that grow, allocate in the flyweight's scope: the scope that created the object, or that of
 * the flyweight through which it was reached. A flyweight on an object that arrived in a call has no scope, so those
 * setters throw {@code ScopeException}; the other setters work. A replaced value stays in its scope until the scope is
 * closed.
 *
 * <p>References are checked when they are followed. A null Ref, a freed scope, a place outside the arena or an object
 * of another type is a {@code RefException}. After that, the flyweight reads its record in place. It does not notice if
 * the scope is closed later, but it never reads outside the arena. (With assertions enabled, each access checks the
 * scope too.) Invalid lengths, ordinals and counts, which a hostile peer may write, are a {@link SharedDataException}.
 *
 * <p>The getter of a {@code String} or {@code byte[]} copies to the Java heap, and the peer decides the size. To limit
 * it, declare the field as {@link SharedString} or {@link SharedBytes} and check its length first.
 *
 * <p>A flyweight is a small mutable cursor. It is not thread-safe. Two flyweights are equal if they are on the same
 * object. A peer sees writes with the next call that passes the object.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.CLASS)
public @interface Shared {}
