package dev.rackcall.perf.objects;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedObject;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** A record of 20 fields with five texts, an object of four fields, a field, and a list of 1,000 points. */
final class RecordSubjects {
    private static final int POINTS = 1_000;

    private final JsonMapper mapper = JsonMapper.builder().build();
    private final Scope written;
    private final Person person;
    private final Person writer = Person.TYPE.flyweight();
    private final Point point;
    private final Point cursor = Point.TYPE.flyweight();
    private final SharedArray<Point> points;
    private final SharedInlineArray<Point> inlinePoints;
    private final SharedInlineArray<Point> writtenPoints =
            SharedInlineArray.typeOf(Point.TYPE).flyweight();
    private final List<HeapPoint> heapPoints = new ArrayList<>();
    private final HeapPerson source = HeapPerson.sample();
    private final byte[] json = mapper.writeValueAsBytes(source);
    private long next;

    /** The same record as a plain object. */
    record HeapPerson(
            long a,
            long b,
            long c,
            long d,
            long e,
            int f,
            int g,
            int h,
            int i,
            int j,
            double k,
            double l,
            double m,
            boolean n,
            boolean o,
            String p,
            String q,
            String r,
            String s,
            String t) {
        static HeapPerson sample() {
            return new HeapPerson(
                    1,
                    20_000,
                    3_000_000,
                    4,
                    5,
                    6,
                    7,
                    8,
                    9,
                    10,
                    0.5,
                    1.25,
                    2.75,
                    true,
                    false,
                    "Ada",
                    "Lovelace",
                    "12 St James's Square",
                    "London",
                    "mathematician");
        }

        long sum() {
            long whole = a + b + c + d + e + f + g + h + i + j;
            long rest = (long) (k + l + m) + (n ? 1 : 0) + (o ? 1 : 0);
            return whole + rest + p.length() + q.length() + r.length() + s.length() + t.length();
        }
    }

    private record HeapPoint(long x, long y, int colour, int size) {}

    private RecordSubjects(BenchArena memory) {
        Scope kept = memory.arena().newScope();
        written = memory.arena().newScope();
        person = write(kept, Person.TYPE.flyweight());
        point = kept.create(Point.class).x(1).y(2).colour(3).size(4);
        points = SharedArray.create(kept, Point.TYPE, POINTS);
        inlinePoints = SharedInlineArray.create(kept, Point.TYPE, POINTS);
        for (int i = 0; i < POINTS; i++) {
            points.set(i, Point.TYPE.create(kept).x(i).y(i).colour(i).size(i));
            inlinePoints.get(i).x(i).y(i).colour(i).size(i);
            heapPoints.add(new HeapPoint(i, i, i, i));
        }
    }

    static List<ObjectSubject> of(BenchArena memory) {
        RecordSubjects records = new RecordSubjects(memory);
        long texts = 0;
        for (String text : List.of(
                records.source.p(), records.source.q(), records.source.r(), records.source.s(), records.source.t())) {
            texts += (Long.BYTES + text.length() + 7) & -8;
        }
        long bytes = Person.TYPE.bytes() + texts;
        return List.of(
                new ObjectSubject("write-record-rackcall", records::writeShared, bytes, 1),
                new ObjectSubject("write-record-jackson", records::writeJson, records.json.length, 1),
                new ObjectSubject("read-record-rackcall", records::readShared, bytes, 1),
                new ObjectSubject("read-record-jackson", records::readJson, records.json.length, 1),
                new ObjectSubject("read-record-heap", records.source::sum, 0, 1),
                new ObjectSubject("create-point-rackcall", records::createPoints, Point.TYPE.bytes(), POINTS),
                new ObjectSubject("set-field-rackcall", records::setFields, 0, POINTS),
                new ObjectSubject("get-field-rackcall", records::getFields, 0, POINTS),
                new ObjectSubject("read-points-rackcall", records::readPoints, Point.TYPE.bytes() + Long.BYTES, POINTS),
                new ObjectSubject(
                        "read-inline-points-rackcall",
                        records::readInlinePoints,
                        Point.TYPE.bytes() - Long.BYTES,
                        POINTS),
                new ObjectSubject(
                        "write-inline-points-rackcall",
                        records::writeInlinePoints,
                        Point.TYPE.bytes() - Long.BYTES,
                        POINTS),
                new ObjectSubject("read-points-heap", records::readHeapPoints, 0, POINTS));
    }

    private Person write(Scope scope, Person into) {
        Person.TYPE.create(scope, into);
        into.a(source.a).b(source.b).c(source.c).d(source.d).e(source.e);
        into.f(source.f).g(source.g).h(source.h).i(source.i).j(source.j);
        into.k(source.k).l(source.l).m(source.m).n(source.n).o(source.o);
        return into.p(source.p).q(source.q).r(source.r).s(source.s).t(source.t);
    }

    private long writeShared() {
        written.reset();
        return SharedObject.refOf(write(written, writer));
    }

    /** Includes making Java strings of the five texts, as JSON's reader does. */
    private long readShared() {
        Person it = person;
        long whole = it.a() + it.b() + it.c() + it.d() + it.e() + it.f() + it.g() + it.h() + it.i() + it.j();
        long rest = (long) (it.k() + it.l() + it.m()) + (it.n() ? 1 : 0) + (it.o() ? 1 : 0);
        return whole
                + rest
                + it.p().length()
                + it.q().length()
                + it.r().length()
                + it.s().length()
                + it.t().length();
    }

    private long writeJson() {
        return mapper.writeValueAsBytes(source).length;
    }

    private long readJson() {
        return mapper.readValue(json, HeapPerson.class).sum();
    }

    private long createPoints() {
        written.reset();
        long last = 0;
        for (int i = 0; i < POINTS; i++) {
            Point.TYPE.create(written, cursor);
            last += cursor.x(i).y(i).colour(i).size(i).x();
        }
        return last;
    }

    private long setFields() {
        for (int i = 0; i < POINTS; i++) {
            point.x(next++);
            VarHandle.storeStoreFence(); // free on x86; without it, only the last store would be left
        }
        return next;
    }

    private long getFields() {
        long sum = 0;
        for (int i = 0; i < POINTS; i++) {
            sum ^= point.x() + i;
        }
        return sum;
    }

    private long readPoints() {
        long sum = 0;
        for (int i = 0; i < POINTS; i++) {
            points.get(i, cursor);
            sum += cursor.x() + cursor.colour();
        }
        return sum;
    }

    private long readInlinePoints() {
        long sum = 0;
        for (int i = 0; i < POINTS; i++) {
            inlinePoints.get(i, cursor);
            sum += cursor.x() + cursor.colour();
        }
        return sum;
    }

    private long writeInlinePoints() {
        written.reset();
        SharedInlineArray.create(written, POINTS, writtenPoints);
        for (int i = 0; i < POINTS; i++) {
            writtenPoints.get(i, cursor);
            cursor.x(i).y(i).colour(i).size(i);
        }
        return SharedObject.refOf(writtenPoints);
    }

    private long readHeapPoints() {
        long sum = 0;
        for (int i = 0; i < POINTS; i++) {
            HeapPoint point = heapPoints.get(i);
            sum += point.x() + point.colour();
        }
        return sum;
    }
}
