package dev.rackcall.samples.documents;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Documents in shared memory, and indexes over all their texts and numbers. It is independent of calls: any code can
 * add a scope with a batch in it. All scopes belong to one arena. Thread-safe.
 */
public final class Store implements AutoCloseable {
    /** Documents that one search may return. */
    public static final int MAX_LIMIT = 1000;

    private static final int FIRST_CAPACITY = 1024;

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final List<Scope> scopes = new ArrayList<>();
    private final PathTable paths = new PathTable();
    private final Postings postings = new Postings(paths);
    private final Map<Integer, NumberIndex> numbers = new HashMap<>();
    private final SharedString text = SharedString.TYPE.flyweight();
    private TextIndex texts = new TextIndex();
    private RefSpace space;
    private long[] refs = new long[FIRST_CAPACITY];
    private long[] numberOf = new long[FIRST_CAPACITY];
    private int size;
    private long heldBytes;
    private long indexNanos;

    /**
     * Takes over a batch and the scope that it lies in. If this throws, the store is as before and the scope is closed.
     *
     * @return how many documents the store now has
     * @throws dev.rackcall.shm.types.SharedDataException if a document is too deep or damaged
     * @throws dev.rackcall.shm.RefException if a Ref in a document leads nowhere
     */
    public int add(Scope scope, Batch batch) {
        lock.writeLock().lock();
        long start = System.nanoTime();
        try {
            // Follows Refs into the scope's arena only: documents that refer to a client's own memory would break when
            // the client leaves.
            Batch own = SharedTypes.BATCH.attach(scope.space(), SharedObject.refOf(batch));
            SharedArray<Document> documents = own.documents();
            collect(documents);
            space = scope.space();
            scopes.add(scope);
            heldBytes += scope.bytesHeld();
            enter(documents);
            return size;
        } catch (RuntimeException e) {
            if (scopes.isEmpty() || scopes.getLast() != scope) {
                scope.close();
            }
            throw e;
        } finally {
            indexNanos += System.nanoTime() - start;
            lock.writeLock().unlock();
        }
    }

    private void collect(SharedArray<Document> documents) {
        Document document = SharedTypes.DOCUMENT.flyweight();
        postings.begin();
        for (int i = 0; i < documents.length(); i++) {
            if (!documents.get(i, document)) {
                throw new SharedDataException("document " + i + " of the batch is null");
            }
            postings.collect(document);
        }
    }

    private void enter(SharedArray<Document> documents) {
        for (int i = 0; i < postings.documents(); i++) {
            Document document = documents.get(i);
            int index = append(SharedObject.refOf(document), document.number());
            for (int value = postings.from(i); value < postings.to(i); value++) {
                enter(value, index);
            }
        }
    }

    private void enter(int value, int document) {
        int path = postings.path(value);
        long key = postings.key(value);
        if (postings.isText(value)) {
            long ref = postings.textRef(value);
            SharedString.TYPE.move(text, space, ref);
            texts.add(key, path, space, text, ref, document);
        } else {
            numbers.computeIfAbsent(path, any -> new NumberIndex()).add(key, document);
        }
    }

    private int append(long ref, long number) {
        if (size == refs.length) {
            refs = Arrays.copyOf(refs, 2 * size);
            numberOf = Arrays.copyOf(numberOf, 2 * size);
        }
        refs[size] = ref;
        numberOf[size] = number;
        return size++;
    }

    /** As {@link DocumentStore#withText}. */
    public Found withText(List<String> path, String value, int limit) {
        lock.readLock().lock();
        try {
            OptionalInt known = paths.find(path);
            if (known.isEmpty()) {
                return new Found(0, List.of());
            }
            long hash = TextIndex.hash(known.getAsInt(), value.getBytes(StandardCharsets.UTF_8));
            int entry = texts.find(hash, known.getAsInt(), space, value);
            if (entry == TextIndex.NONE) {
                return new Found(0, List.of());
            }
            Lowest lowest = new Lowest(numberOf, Math.clamp(limit, 0, MAX_LIMIT));
            texts.collect(entry, lowest);
            return found(texts.count(entry), lowest);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** As {@link DocumentStore#withNumber}. */
    public Found withNumber(List<String> path, double low, double high, int limit) {
        lock.readLock().lock();
        try {
            OptionalInt known = paths.find(path);
            NumberIndex index = known.isEmpty() ? null : numbers.get(known.getAsInt());
            if (index == null) {
                return new Found(0, List.of());
            }
            Lowest lowest = new Lowest(numberOf, Math.clamp(limit, 0, MAX_LIMIT));
            return found(index.collect(JsonNumbers.sortable(low), JsonNumbers.sortable(high), lowest), lowest);
        } finally {
            lock.readLock().unlock();
        }
    }

    private Found found(long total, Lowest lowest) {
        List<Document> documents = new ArrayList<>(lowest.size());
        for (int i = 0; i < lowest.size(); i++) {
            documents.add(SharedTypes.DOCUMENT.attach(space, refs[lowest.document(i)]));
        }
        return new Found(total, documents);
    }

    /** Describes the store's content; reads every document. */
    public Summary summary() {
        lock.readLock().lock();
        try {
            Digest digest = new Digest();
            Document document = SharedTypes.DOCUMENT.flyweight();
            long sum = 0;
            for (int i = 0; i < size; i++) {
                SharedTypes.DOCUMENT.move(document, space, refs[i]);
                sum += digest.of(document);
            }
            return new Summary(size, sum, heldBytes, indexNanos);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Removes and frees all documents. */
    public void clear() {
        lock.writeLock().lock();
        try {
            scopes.forEach(Scope::close);
            scopes.clear();
            paths.clear();
            numbers.clear();
            texts = new TextIndex();
            size = 0;
            heldBytes = 0;
            indexNanos = 0;
        } finally {
            lock.writeLock().unlock();
        }
    }

    @Override
    public void close() {
        clear();
    }

    /**
     * The content of a store.
     *
     * @param documents how many
     * @param digest the sum of their {@link Digest}s
     * @param heldBytes memory in whole pages
     * @param indexNanos the total time of {@link Store#add}
     */
    public record Summary(int documents, long digest, long heldBytes, long indexNanos) {}
}
