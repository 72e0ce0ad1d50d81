package dev.rackcall.rpc.generated;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Returns its arguments and records which methods were called. */
class EverythingService implements Everything {
    final List<String> calls = new ArrayList<>();

    @Override
    public Simple simple(Simple value) {
        calls.add("simple");
        return value;
    }

    @Override
    public ArraysOf arrays(ArraysOf value) {
        calls.add("arrays");
        return value;
    }

    @Override
    public Jdk jdk(Jdk value) {
        calls.add("jdk");
        return value;
    }

    @Override
    public Nested nested(Nested value) {
        calls.add("nested");
        return value;
    }

    @Override
    public Tree tree(Tree value) {
        calls.add("tree");
        return value;
    }

    @Override
    public Page<Figure<Point>> page(Page<Figure<Point>> page) {
        calls.add("page");
        return page;
    }

    @Override
    public String primitives(boolean a, byte b, short c, char d, int e, long f, float g, double h) {
        calls.add("primitives");
        return a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h;
    }

    @Override
    public Boolean boxes(Byte b, Short c, Character d, Integer e, Long f, Float g, Double h) {
        calls.add("boxes " + b + " " + c + " " + d + " " + e + " " + f + " " + g + " " + h);
        return true;
    }

    @Override
    public int join(String... parts) {
        calls.add("join " + List.of(parts));
        return parts.length;
    }

    @Override
    public int join(int... parts) {
        calls.add("join ints");
        return IntStream.of(parts).sum();
    }

    @Override
    public int join(List<String> parts, Point point) {
        calls.add("join " + parts + " " + point);
        return -1;
    }

    @Override
    public String names(
            String out, int in, long call, Point calls, List<String> service, byte[] result, Color e, double t) {
        this.calls.add("names");
        return out + in + call + calls + service + result.length + e + t;
    }

    @Override
    public void nothing() {
        calls.add("nothing");
    }

    @Override
    public Legacy legacy(Legacy legacy) {
        calls.add("legacy " + legacy);
        return legacy;
    }

    @Override
    public List<Shape> shapes(List<Shape> shapes) {
        calls.add("shapes");
        return shapes;
    }

    @Override
    public Note note(Note note) {
        calls.add("note " + note.id());
        return note;
    }

    @Override
    public Attachment attachment(Attachment attachment, Map<String, Note> byName, Note... more) {
        calls.add("attachment " + byName.keySet() + " " + more.length);
        return attachment;
    }

    @Override
    public CompletableFuture<Point> later(Point point) {
        calls.add("later");
        return CompletableFuture.completedFuture(point);
    }

    @Override
    public CompletableFuture<Void> sometime(String call) {
        calls.add("sometime " + call);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletableFuture<List<Note>> notesLater(Note note) {
        calls.add("notesLater");
        return CompletableFuture.completedFuture(List.of(note, note));
    }

    @Override
    public Stream<Point> points(int count) {
        calls.add("points");
        return IntStream.range(0, count).mapToObj(i -> new Point(i, -i));
    }

    @Override
    public Stream<Note> notes(Note note) {
        calls.add("notes");
        return Stream.of(note, note, note);
    }

    @Override
    public void tell(String what) {
        calls.add("tell " + what);
    }

    @Override
    public Map<String, Point> mapped(String key, Point value) {
        calls.add("mapped");
        return Map.of(key, value);
    }

    @Override
    public String toString() {
        return "EverythingService" + calls;
    }
}
