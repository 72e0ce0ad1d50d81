package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Immutable UTF-8 text in an arena. Comparisons read the memory; only {@link #toString} creates a Java {@code String}.
 * Two of them are {@code equal} if they are the same object; {@link #contentEquals(SharedString)} compares text.
 * Invalid UTF-8, which a peer may write, is read as U+FFFD. Unpaired surrogates are written as {@code ?}.
 */
public final class SharedString extends SharedSequence {
    private static final Type<SharedString> STRING_TYPE = new Type<>(SharedString.class, "SharedString", Byte.BYTES) {
        @Override
        public SharedString flyweight() {
            return new SharedString();
        }
    };
    public static final SharedType<SharedString> TYPE = STRING_TYPE;

    private static final byte[] NO_BYTES = {};
    private static final int ASCII_END = 0x80;
    private static final int MAX_UTF8_PER_CHAR = 3;

    private SharedString() {
        super(STRING_TYPE);
    }

    /**
     * Copies the text into a scope.
     *
     * @throws dev.rackcall.shm.ScopeException if the scope is closed or belongs to another thread
     */
    public static SharedString create(Scope scope, CharSequence text) {
        String string = text.toString();
        if (!AsciiText.isShort(string)) {
            return create(scope, string.getBytes(StandardCharsets.UTF_8));
        }
        SharedString created = STRING_TYPE.createOf(scope, string.length());
        AsciiText.putPadded(string, created.memory(), created.start());
        return created;
    }

    /**
     * Copies text into a scope and moves {@code into} to the copy. Allocates nothing in the Java heap for ASCII text of
     * at most 128 characters.
     */
    public static void create(Scope scope, String text, SharedString into) {
        boolean ascii = AsciiText.isShort(text);
        byte[] utf8 = ascii ? NO_BYTES : text.getBytes(StandardCharsets.UTF_8);
        STRING_TYPE.createOf(scope, into, ascii ? text.length() : utf8.length);
        if (ascii) {
            AsciiText.putPadded(text, into.memory(), into.start());
        } else {
            MemorySegment.copy(utf8, 0, into.memory(), ObjectLayout.BYTE, into.start(), utf8.length);
        }
    }

    /** As {@link #create(Scope, CharSequence)}, without a flyweight; returns the Ref. */
    static long store(Scope scope, String text) {
        if (!AsciiText.isShort(text)) {
            return refOf(create(scope, text.getBytes(StandardCharsets.UTF_8)));
        }
        int bytes = ObjectLayout.HEADER_BYTES + text.length();
        long ref = scope.allocate(bytes);
        MemorySegment memory = scope.arena().memory();
        long base = Ref.offset(ref);
        memory.set(ObjectLayout.LONG, base, ObjectLayout.header(TYPE.typeId(), bytes));
        AsciiText.putPadded(text, memory, base + ObjectLayout.HEADER_BYTES);
        return ref;
    }

    static SharedString create(Scope scope, byte[] utf8) {
        SharedString created = STRING_TYPE.createOf(scope, utf8.length);
        MemorySegment.copy(utf8, 0, created.memory(), ObjectLayout.BYTE, created.start(), utf8.length);
        return created;
    }

    /** The text that a Ref points to, without a flyweight. */
    static String read(RefSpace space, long ref) {
        RefSpace.Window window = space.follow(ref);
        long at = window.at(ref);
        int bytes = TYPE.checkedBytes(window, at, ref);
        return decode(window.memory(), at + ObjectLayout.HEADER_BYTES, bytes - ObjectLayout.HEADER_BYTES);
    }

    static String decode(MemorySegment memory, long at, int length) {
        if (length == 0) {
            return "";
        }
        byte[] utf8 = new byte[length];
        MemorySegment.copy(memory, ObjectLayout.BYTE, at, utf8, 0, length);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    /** A single byte of the UTF-8. */
    public byte byteAt(int index) {
        return memory().get(ObjectLayout.BYTE, at(index));
    }

    /** A copy of the UTF-8. */
    public byte[] toUtf8() {
        byte[] utf8 = new byte[length()];
        MemorySegment.copy(memory(), ObjectLayout.BYTE, start(), utf8, 0, utf8.length);
        return utf8;
    }

    /** Whether both hold the same text. */
    public boolean contentEquals(SharedString other) {
        return length() == other.length() && mismatch(other) < 0;
    }

    /** Whether this holds that text. Allocates nothing for ASCII. */
    public boolean contentEquals(CharSequence text) {
        int chars = text.length();
        if (length() < chars || length() > (long) chars * MAX_UTF8_PER_CHAR) {
            return false;
        }
        for (int i = 0; i < chars; i++) {
            char c = text.charAt(i);
            if (c >= ASCII_END) {
                return tailEquals(i, text);
            }
            if (byteAt(i) != c) {
                return false;
            }
        }
        return length() == chars;
    }

    private boolean tailEquals(int from, CharSequence text) {
        byte[] tail = text.subSequence(from, text.length()).toString().getBytes(StandardCharsets.UTF_8);
        return contentEquals(from, tail);
    }

    /** Whether the UTF-8 from {@code from} on equals {@code utf8}. */
    boolean contentEquals(int from, byte[] utf8) {
        if (length() - from != utf8.length) {
            return false;
        }
        for (int i = 0; i < utf8.length; i++) {
            if (byteAt(from + i) != utf8[i]) {
                return false;
            }
        }
        return true;
    }

    /** Orders by code points; negative, zero or positive like {@link Comparable#compareTo}. */
    public int compareContent(SharedString other) {
        long mismatch = mismatch(other);
        if (mismatch < 0) {
            return 0;
        }
        if (mismatch >= length() || mismatch >= other.length()) {
            return Integer.compare(length(), other.length());
        }
        return Byte.compareUnsigned(byteAt((int) mismatch), other.byteAt((int) mismatch));
    }

    private long mismatch(SharedString other) {
        return MemorySegment.mismatch(
                memory(), start(), start() + length(), other.memory(), other.start(), other.start() + other.length());
    }

    /** Hash of the text, for maps. */
    long contentHash(long seed) {
        return KeyHash.of(memory(), start(), length(), seed);
    }

    /** The text as a Java string. */
    @Override
    public String toString() {
        return decode(memory(), start(), length());
    }
}
