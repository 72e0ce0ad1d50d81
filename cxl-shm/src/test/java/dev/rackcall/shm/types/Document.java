package dev.rackcall.shm.types;

import dev.rackcall.shm.FixedString;
import dev.rackcall.shm.Inline;
import dev.rackcall.shm.Length;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Shared;
import dev.rackcall.shm.SharedArray;
import dev.rackcall.shm.SharedBytes;
import dev.rackcall.shm.SharedDoubleList;
import dev.rackcall.shm.SharedFloatArray;
import dev.rackcall.shm.SharedIntList;
import dev.rackcall.shm.SharedList;
import dev.rackcall.shm.SharedLongArray;
import dev.rackcall.shm.SharedLongList;
import dev.rackcall.shm.SharedLongMap;
import dev.rackcall.shm.SharedString;
import dev.rackcall.shm.SharedStringMap;
import java.util.Optional;

/** Every kind of field that there is. */
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
