package dev.rackcall.shm.sample;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.FixedString;
import dev.rackcall.shm.types.Inline;
import dev.rackcall.shm.types.Length;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.shm.types.SharedDoubleList;
import dev.rackcall.shm.types.SharedFloatArray;
import dev.rackcall.shm.types.SharedIntList;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedLongArray;
import dev.rackcall.shm.types.SharedLongList;
import dev.rackcall.shm.types.SharedLongMap;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedStringMap;
import java.util.Optional;

/** Has every kind of field. */
@Shared
public interface Document extends Entity {
    @Override
    Document id(long value);

    boolean open();

    void open(boolean value);

    byte level();

    void level(byte value);

    short port();

    void port(short value);

    char initial();

    void initial(char value);

    int year();

    Document year(int value);

    float weight();

    void weight(float value);

    double price();

    void price(double value);

    Color color();

    void color(Color value);

    @FixedString(7)
    String code();

    void code(String value);

    String title();

    Document title(String value);

    Optional<String> subtitle();

    void subtitle(Optional<String> value);

    byte[] blob();

    void blob(byte[] value);

    Optional<byte[]> thumbnail();

    void thumbnail(Optional<byte[]> value);

    SharedString body();

    void body(SharedString value);

    @Inline
    Point position();

    @Length(3) SharedLongArray scores();

    @Length(5) SharedBytes digest();

    @Length(2) SharedArray<Document> neighbours();

    Author author();

    void author(Author value);

    Optional<Author> editor();

    void editor(Optional<Author> value);

    boolean editor(Author into);

    Ref<Document> next();

    Document next(Ref<Document> value);

    boolean next(Document into);

    SharedFloatArray embedding();

    void embedding(SharedFloatArray value);

    SharedList<Document> children();

    Document children(SharedList<Document> value);

    Optional<SharedList<SharedString>> tags();

    void tags(Optional<SharedList<SharedString>> value);

    boolean tags(SharedList<SharedString> into);

    SharedIntList pages();

    void pages(SharedIntList value);

    SharedLongList times();

    void times(SharedLongList value);

    SharedDoubleList measures();

    void measures(SharedDoubleList value);

    SharedStringMap<Document> byName();

    void byName(SharedStringMap<Document> value);

    SharedLongMap<SharedList<Document>> byYear();

    void byYear(SharedLongMap<SharedList<Document>> value);

    /** Not a field. */
    default String heading() {
        return id() + " " + title();
    }

    /** Not a field. */
    static int firstYear() {
        return 1970;
    }
}
