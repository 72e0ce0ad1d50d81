package dev.rackcall.shm.pool;

import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;

/** The main class of a process that uses a pool until it is killed. */
final class PoolUser {
    private PoolUser() {}

    /** Starts it and waits until it has its memory. */
    static ChildJvm start(String how, Path path) throws InterruptedException {
        ChildJvm user = ChildJvm.of(PoolUser.class, how, path).start();
        user.awaitLine();
        return user;
    }

    public static void main(String[] arguments) throws IOException {
        Path path = Path.of(arguments[1]);
        Pool pool = arguments[0].equals("file") ? Pool.file(path, 1 << 20) : Pool.open(path);
        pool.arena().newScope(50_000).allocate(40_000);
        System.out.println(pool.arena().participant());
        System.out.flush();
        // Until it is killed or its parent ends.
        System.in.read();
    }
}
