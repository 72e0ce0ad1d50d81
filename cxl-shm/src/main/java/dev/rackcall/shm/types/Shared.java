package dev.rackcall.shm.types;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks an interface as a shared type: objects that lie in an arena and are passed by pointer. The annotation processor settles
 * the layout and writes a flyweight {@code <Name>_Shared} over it.
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
 * Document document = scope.create(Document.class).id(7).title("Rackcall");
 * }</pre>
 *
 * <p>A field is a getter and a setter of one name and one type. Static, default and private methods are the author's own; the
 * processor leaves them alone. Interfaces may extend others.
 *
 * <table>
 * <caption>What a field may be</caption>
 * <tr><th>Java type</th><th>in the record</th><th>never set, it reads as</th></tr>
 * <tr><td>a primitive</td><td>its natural size</td><td>0 or false</td></tr>
 * <tr><td>an enum</td><td>its ordinal, 2 bytes</td><td>the first constant</td></tr>
 * <tr><td>{@link FixedString @FixedString} {@code String}</td><td>length and UTF-8 in place</td><td>""</td></tr>
 * <tr><td>{@code String}, {@code byte[]}</td><td>a Ref to a copy</td><td>empty</td></tr>
 * <tr><td>{@link Inline @Inline} shared type</td><td>its fields in place</td><td>all fields never set</td></tr>
 * <tr><td>{@link Length @Length} array</td><td>its elements in place</td><td>zeros</td></tr>
 * <tr><td>a shared type or container {@code T}</td><td>a Ref</td><td>{@code RefException}</td></tr>
 * <tr><td>{@code Optional} of a reference, {@code String} or {@code byte[]}</td><td>a Ref</td><td>{@code Optional.empty()}</td></tr>
 * <tr><td>{@code Ref}{@code <T>}</td><td>a Ref</td><td>{@code Ref.nullRef()}</td></tr>
 * </table>
 *
 * <p>Containers are {@link SharedString}, {@link SharedBytes}, {@link SharedIntArray}, {@link SharedLongArray},
 * {@link SharedFloatArray}, {@link SharedDoubleArray}, {@link SharedArray}, {@link SharedList}, {@link SharedIntList},
 * {@link SharedLongList}, {@link SharedDoubleList}, {@link SharedStringMap} and {@link SharedLongMap}.
 *
 * <h2>Which reference type to choose</h2>
 *
 * <p>{@code T} when the reference is always there, {@code Optional<T>} when it may be absent, {@code Ref<T>} when it is more often
 * passed on than followed. All three have the same layout, so a type may change from one to another without its peers noticing.
 *
 * <p>Getters make a flyweight on the Java heap each time. For walks over many objects an {@code Optional} or {@code Ref} field may
 * have one more accessor, {@code boolean name(T into)}: it puts an existing flyweight, which may be the one that is asked, onto
 * what the field refers to, and allocates nothing. If the reference is null it returns false and moves nothing.
 *
 * <pre>{@code
 * do {
 *     sum += cursor.year();
 * } while (cursor.next(cursor));
 * }</pre>
 *
 * A chain that a peer built may be a circle: whoever walks it bounds the number of steps.
 *
 * <h2>Memory and lifetime</h2>
 *
 * <p>An object lives in the {@code Scope} that created it and dies with it. Setters of {@code String} and {@code byte[]} and
 * containers that grow allocate in the scope that the flyweight carries: the one that created it, or the one of the flyweight
 * that led to it. A flyweight of an object that came in a call carries none, and those setters throw {@code ScopeException};
 * the others work. What a setter replaces stays in its scope until that is closed.
 *
 * <p>References are checked when they are followed: null, a freed scope, a place outside the arena or an object of another type is a
 * {@code RefException}. The flyweight then reads its record in place; it does not notice that the scope was closed later, but it never
 * reads outside the arena. (With assertions on, each access checks that too.) Lengths, ordinals and counts that a hostile peer wrote are a {@link SharedDataException}.
 *
 * <p>The getter of a {@code String} or {@code byte[]} makes a copy on the Java heap, as large as a peer has made it. Where that is a
 * concern, declare the field as {@link SharedString} or {@link SharedBytes} and look at its length first.
 *
 * <p>A flyweight is a small mutable cursor: not thread-safe, equal to another when both are on the same object. Writes become visible to
 * a peer with the call that passes the object.
 */
@Documented
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.CLASS)
public @interface Shared {}
