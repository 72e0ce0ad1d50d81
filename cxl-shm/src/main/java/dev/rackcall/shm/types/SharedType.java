package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedFactory;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A shared type at run time. It creates objects, and moves flyweights to objects after checking their type and size.
 * Immutable and thread-safe. The annotation processor generates one for each {@link Shared} interface, {@code
 * <Name>_Shared.TYPE}.
 *
 * @param <T> the interface or container
 */
public abstract class SharedType<T> extends SharedFactory<T> {
    /** Type names by id, for messages. Holds no classes and so keeps no class loader alive. */
    private static final Map<Integer, String> NAMES = new ConcurrentHashMap<>();

    private final Class<? super T> type;
    private final String name;
    private final int typeId;
    private final long fingerprint;
    private final int bytes;
    /** Header of an object of {@code bytes}, as nearly all records are. */
    private final long usualHeader;
    /** Length of an object of each version that is known here, oldest first; empty for containers. */
    private final int[] versionBytes;

    private final String description;
    private volatile ReferenceFields references;

    /**
     * The containers of this type, each created when it is first needed, because hashing a layout takes longer than
     * creating a container. Racing threads may create equal ones.
     */
    volatile SharedType<?> arrayType;

    volatile SharedType<?> inlineArrayType;
    volatile SharedType<?> listType;
    volatile SharedType<?> stringMapType;
    volatile SharedType<?> longMapType;

    /** For generated code: a record. */
    protected SharedType(
            Class<? super T> type, String name, int typeId, long fingerprint, int bytes, String description) {
        this(type, name, typeId, fingerprint, new int[] {bytes}, bytes, description);
    }

    /**
     * For generated code: a record with fields that are {@link Since} a later version.
     *
     * @param versionBytes length of an object of each version, oldest first
     */
    protected SharedType(
            Class<? super T> type, String name, int typeId, long fingerprint, int[] versionBytes, String description) {
        this(type, name, typeId, fingerprint, versionBytes, versionBytes[versionBytes.length - 1], description);
    }

    private SharedType(
            Class<? super T> type,
            String name,
            int typeId,
            long fingerprint,
            int[] versionBytes,
            int bytes,
            String description) {
        this.type = type;
        this.name = name;
        this.typeId = typeId;
        this.fingerprint = fingerprint;
        this.bytes = bytes;
        this.usualHeader = ObjectLayout.header(typeId, bytes);
        this.versionBytes = versionBytes.clone();
        this.description = description;
        NAMES.putIfAbsent(typeId, name);
    }

    /** For containers, whose description consists of one layout. */
    SharedType(Class<? super T> type, String name, int bytes, String description) {
        this(
                type,
                name,
                ObjectLayout.typeId(description),
                ObjectLayout.fingerprint(description),
                new int[0],
                bytes,
                description);
    }

    /**
     * The type of a {@link Shared} interface, or of a container without type arguments such as {@link SharedString}.
     * Call it during set-up and keep the result.
     *
     * @throws IllegalArgumentException if there is no generated class for it; the message says what to add to the build
     */
    public static <T> SharedType<T> of(Class<T> type) {
        return (SharedType<T>) SharedFactory.of(type);
    }

    @Override
    public final Class<? super T> type() {
        return type;
    }

    /** The interface's qualified name, or the container's name with its element types in angle brackets. */
    public final String name() {
        return name;
    }

    /** The number in the header of every object of this type: a hash of its layout, never 0. */
    public final int typeId() {
        return typeId;
    }

    /** A hash over the layouts of this type and of all types reachable from it; equal at both ends of a connection. */
    public final long fingerprint() {
        return fingerprint;
    }

    /** Length of an object including its header; if objects differ in size, that of an empty one. */
    public final int bytes() {
        return bytes;
    }

    /** The layouts of this type and of every shared type reachable from it, one line each, for people to read. */
    public final String description() {
        return description;
    }

    /**
     * Creates an object with all fields zero.
     *
     * @throws dev.rackcall.shm.ScopeException if the scope is closed or belongs to another thread
     */
    @Override
    public final T create(Scope scope) {
        return create(scope, bytes);
    }

    /**
     * Creates an object with all fields zero and moves {@code into} to it, allocating nothing in the Java heap. Like a
     * flyweight that {@link #create(Scope)} returns, {@code into} then allocates in that scope. It stays where it was if
     * this throws.
     *
     * @throws dev.rackcall.shm.ScopeException as {@link #create(Scope)}
     */
    public final void create(Scope scope, T into) {
        create(scope, into, bytes);
    }

    final void create(Scope scope, T into, long objectBytes) {
        SharedObject object = checked(into, "flyweight");
        object.create(scope, scope.allocate(checkedSize(objectBytes)), (int) objectBytes);
    }

    final T create(Scope scope, long objectBytes) {
        T created = flyweight();
        ((SharedObject) created).create(scope, scope.allocate(checkedSize(objectBytes)), (int) objectBytes);
        return created;
    }

    private long checkedSize(long objectBytes) {
        if (objectBytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a " + name + " of " + objectBytes
                    + " bytes was asked; one object holds up to " + Integer.MAX_VALUE);
        }
        return objectBytes;
    }

    /**
     * A flyweight on the object that a Ref points to. The flyweight has no scope, so setters that allocate throw an
     * exception.
     *
     * @throws RefException if the Ref is null or may not be followed, or if no whole object of this type lies there
     */
    public final T attach(RefSpace space, long ref) {
        return attach(space, null, ref);
    }

    /**
     * A flyweight on the object that a Ref points to. The flyweight allocates in {@code scope} when a setter needs
     * memory.
     *
     * @throws RefException as {@link #attach(RefSpace, long)}
     */
    public final T attach(Scope scope, Ref<T> ref) {
        return attach(scope.space(), scope, ref.bits());
    }

    final T attach(RefSpace space, Scope scope, long ref) {
        T attached = flyweight();
        ((SharedObject) attached).bind(space, scope, ref);
        return attached;
    }

    /**
     * A flyweight on no object yet, for {@link #move}. Until then every access throws an {@link IllegalStateException}.
     */
    public abstract T flyweight();

    /**
     * Moves a flyweight to another object, allocating nothing. It stays where it was if this throws or returns false.
     *
     * @return false if the Ref is null
     * @throws RefException as {@link #attach(RefSpace, long)}, but not for null
     */
    public final boolean move(T flyweight, RefSpace space, long ref) {
        return move(flyweight, space, null, ref);
    }

    /**
     * Moves a flyweight to another object of its space. The flyweight keeps its scope.
     *
     * @return false if the Ref is null
     * @throws RefException as {@link #attach(RefSpace, long)}, but not for null
     */
    public final boolean move(T flyweight, Ref<T> ref) {
        SharedObject object = checked(flyweight, "flyweight");
        return move(flyweight, object.attachedSpace(), object.scope(), ref.bits());
    }

    final boolean move(T flyweight, RefSpace space, Scope scope, long ref) {
        if (ref == Ref.NULL) {
            return false;
        }
        checked(flyweight, "flyweight").bind(space, scope, ref);
        return true;
    }

    /** Names every field that holds a reference. Called once, when an object of this type is first copied. */
    protected abstract void references(ReferenceFields fields);

    final ReferenceFields references() {
        ReferenceFields known = references;
        if (known == null) {
            known = new ReferenceFields();
            references(known);
            references = known;
        }
        return known;
    }

    /** Replaces the references in a copied record by references to the copies of their targets. */
    void forward(GraphCopy copy, MemorySegment memory, long base, int objectBytes) {
        ReferenceFields fields = references();
        for (int i = 0; i < fields.count(); i++) {
            if (fields.offset(i) + Long.BYTES > objectBytes) {
                // A field that this older object does not have.
                continue;
            }
            copy.forward(memory, base + fields.offset(i), fields.type(i));
        }
    }

    /** Called for each new object, which is zero behind its header. */
    void created(MemorySegment memory, long base) {}

    /**
     * Whether an object of this type can have that size. A record of a later version is longer than this one knows, one of
     * an earlier version is shorter.
     */
    boolean isSize(int objectBytes) {
        if (objectBytes == bytes) {
            return true;
        }
        if (objectBytes > bytes) {
            // Only the processes that have the later version know its sizes. Nothing here reads beyond the known bytes.
            return versionBytes.length > 0 && objectBytes % ObjectLayout.ALIGNMENT == 0;
        }
        for (int older : versionBytes) {
            if (objectBytes == older) {
                return true;
            }
        }
        return false;
    }

    /** Whether objects are records of a {@link Shared} interface, not containers. */
    final boolean isRecord() {
        return versionBytes.length > 0;
    }

    /** Whether the interface has {@link Since} fields. */
    final boolean hasVersions() {
        return versionBytes.length > 1;
    }

    /** How many bytes of an object this version knows. A copy has no more, since it could not forward what lies behind. */
    final int knownBytes(int objectBytes) {
        return versionBytes.length == 0 ? objectBytes : Math.min(objectBytes, bytes);
    }

    /**
     * The size of the object at {@code at}.
     *
     * @throws RefException unless a whole object of this type lies there
     */
    final int checkedBytes(RefSpace.Window window, long at, long ref) {
        return checkedBytes(window.memory(), at, window.end(), ref);
    }

    /** As above, for an object that must end before {@code end}. */
    final int checkedBytes(MemorySegment memory, long at, long end, long ref) {
        long available = end - at;
        if (at < 0 || (at & (ObjectLayout.ALIGNMENT - 1)) != 0 || available < ObjectLayout.HEADER_BYTES) {
            throw new RefException(Ref.describe(ref) + " cannot lead to a " + name + ": objects begin at multiples of "
                    + ObjectLayout.ALIGNMENT + " inside the arena of " + memory.byteSize() + " bytes");
        }
        long header = memory.get(ObjectLayout.LONG, at);
        if (header == usualHeader && bytes <= available) {
            return bytes;
        }
        int objectBytes = ObjectLayout.bytes(header);
        if (ObjectLayout.typeId(header) != typeId) {
            throw new RefException(Ref.describe(ref) + " does not lead to a " + name + " (type "
                    + Integer.toHexString(typeId) + ") but to " + describeType(ObjectLayout.typeId(header)));
        }
        if (!isSize(objectBytes) || objectBytes > available) {
            throw new RefException(Ref.describe(ref) + " leads to a damaged " + name + ": its header says "
                    + objectBytes + " bytes, " + available + " are left where it lies");
        }
        return objectBytes;
    }

    /** Checks that {@code value} is a shared object of this type, before a reference to it is stored. */
    final SharedObject checked(Object value, String what) {
        if (value == null) {
            throw new NullPointerException(what + ": null instead of a " + name);
        }
        SharedObject object = SharedObject.of(value);
        if (object.type().typeId != typeId) {
            throw new IllegalArgumentException(what + ": a " + object.type().name + " instead of a " + name);
        }
        return object;
    }

    private static String describeType(int typeId) {
        if (typeId == 0) {
            return "memory that holds no object";
        }
        String known = NAMES.get(typeId);
        return known == null
                ? "type " + Integer.toHexString(typeId) + ", which this process has not seen; were both ends built from"
                        + " the same interfaces?"
                : "a " + known + " (type " + Integer.toHexString(typeId) + ")";
    }

    @Override
    public final String toString() {
        return name;
    }
}
