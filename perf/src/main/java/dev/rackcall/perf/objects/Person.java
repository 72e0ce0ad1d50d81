package dev.rackcall.perf.objects;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedType;

/** A record of 20 fields, five of them text. */
@Shared
interface Person {
    SharedType<Person> TYPE = SharedType.of(Person.class);

    long a();

    Person a(long value);

    long b();

    Person b(long value);

    long c();

    Person c(long value);

    long d();

    Person d(long value);

    long e();

    Person e(long value);

    int f();

    Person f(int value);

    int g();

    Person g(int value);

    int h();

    Person h(int value);

    int i();

    Person i(int value);

    int j();

    Person j(int value);

    double k();

    Person k(double value);

    double l();

    Person l(double value);

    double m();

    Person m(double value);

    boolean n();

    Person n(boolean value);

    boolean o();

    Person o(boolean value);

    String p();

    Person p(String value);

    String q();

    Person q(String value);

    String r();

    Person r(String value);

    String s();

    Person s(String value);

    String t();

    Person t(String value);
}
