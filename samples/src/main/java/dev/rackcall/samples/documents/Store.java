package dev.rackcall.samples.documents;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import dev.rackcall.samples.documents.Postings.Posting;
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
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongPredicate;

/** Documents in shared memory, and indexes over all their texts and numbers. All scopes belong to one arena. Thread-safe. */
public final class Store implements DocumentStore, AutoCloseable {
    /** The maximum number of documents that one search returns. */
    public static final int MAX_LIMIT = 1000;

    private static final int FIRST_CAPACITY = 1024;

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final List<Scope> scopes = new ArrayList<>();
    private final PathTable paths = new PathTable();
    private final Postings postings = new Postings(paths);
    /**
     * The indexes of texts by path. The key of a text is its hash; the index refers to the text and does not copy it.
     */
    private final Map<Integer, SortedIndex> texts = new HashMap<>();

    private final Map<Integer, SortedIndex> numbers = new HashMap<>();
    private RefSpace space;
    private long[] refs = new long[FIRST_CAPACITY];
    private long[] numberOf = new long[FIRST_CAPACITY];
    /** The place of each number's last document. */
    private final Map<Long, Integer> places = new HashMap<>();

    private int size;
    private long heldBytes;
    private long indexNanos;

    @Override
    public int put(Document.Batch batch) {
        return add(RpcContext.current().orElseThrow().adopt(batch), batch);
    }

    /**
     * Takes over a batch and the scope that it lies in. If this throws, the store is as before and the scope is closed.
     *
     * @return how many documents the store now has
     * @throws SharedDataException if a document is too deep or damaged
     * @throws dev.rackcall.shm.RefException if a Ref in a document is invalid
     */
    public int add(Scope scope, Document.Batch batch) {
        lock.writeLock().lock();
        long start = System.nanoTime();
        try {
            // Follows Refs into the scope's arena only: documents that refer to a client's own memory would break when
            // the client leaves.
            Document.Batch own = Document.BATCH.attach(scope.space(), SharedObject.refOf(batch));
            SharedArray<Document> documents = own.documents();
            int count = collect(documents);
            space = scope.space();
            scopes.add(scope);
            heldBytes += scope.bytesHeld();
            enter(documents, count);
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

    private int collect(SharedArray<Document> documents) {
        Document document = Document.TYPE.flyweight();
        int count = documents.length();
        postings.begin();
        for (int i = 0; i < count; i++) {
            if (!documents.get(i, document)) {
                throw new SharedDataException("document " + i + " of the batch is null");
            }
            postings.collect(i, document);
        }
        return count;
    }

    private void enter(SharedArray<Document> documents, int count) {
        if (size + count > refs.length) {
            int capacity = Math.max(size + count, 2 * size);
            refs = Arrays.copyOf(refs, capacity);
            numberOf = Arrays.copyOf(numberOf, capacity);
        }
        for (int i = 0; i < count; i++) {
            Document document = documents.get(i);
            refs[size + i] = SharedObject.refOf(document);
            numberOf[size + i] = document.number();
            places.put(document.number(), size + i);
        }
        for (Posting posting : postings.all()) {
            Map<Integer, SortedIndex> indexes = posting.text() == 0 ? numbers : texts;
            indexes.computeIfAbsent(posting.path(), _ -> new SortedIndex())
                    .add(posting.key(), size + posting.document(), posting.text());
        }
        size += count;
    }

    @Override
    public Document get(long number) {
        lock.readLock().lock();
        try {
            Integer place = places.get(number);
            if (place == null) {
                throw Status.Code.NOT_FOUND
                        .with("no document has the number %d", number)
                        .asException();
            }
            return Document.TYPE.attach(space, refs[place]);
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public Found withText(List<String> path, String text, int limit) {
        long key = Digest.of(text.getBytes(StandardCharsets.UTF_8));
        return find(
                texts,
                path,
                key,
                key,
                ref -> SharedString.TYPE.attach(space, ref).contentEquals(text),
                limit);
    }

    @Override
    public Found withNumber(List<String> path, double low, double high, int limit) {
        return find(numbers, path, Postings.numberKey(low), Postings.numberKey(high), _ -> true, limit);
    }

    private Found find(
            Map<Integer, SortedIndex> indexes,
            List<String> path,
            long low,
            long high,
            LongPredicate wanted,
            int limit) {
        if (limit < 0 || limit > MAX_LIMIT) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("a search returns up to %d documents, not %d", MAX_LIMIT, limit)
                    .asException();
        }
        lock.readLock().lock();
        try {
            SortedIndex index = indexes.get(paths.find(path));
            Matches matches = index == null ? new Matches() : index.find(low, high, wanted);
            int total = matches.distinct();
            List<Document> documents = new ArrayList<>();
            for (int document : matches.lowest(numberOf, limit)) {
                documents.add(Document.TYPE.attach(space, refs[document]));
            }
            return new Found(total, documents);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Describes the store's content; reads every document. */
    public Summary summary() {
        lock.readLock().lock();
        try {
            Digest digest = new Digest();
            Document document = Document.TYPE.flyweight();
            long sum = 0;
            for (int i = 0; i < size; i++) {
                Document.TYPE.move(document, space, refs[i]);
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
            texts.clear();
            numbers.clear();
            places.clear();
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
