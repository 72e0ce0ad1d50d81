package dev.rackcall.cp;

import dev.rackcall.testkit.ChildJvm;

/** A process that prints the address and key of a region. It is killed when closed. */
public record Child(ChildJvm process, long address, int key) implements AutoCloseable {
    public static Child start(Class<?> main, Object... arguments) throws InterruptedException {
        ChildJvm process = ChildJvm.of(main, arguments).flags("-Xmx128m").start();
        String[] words = process.awaitLine().split(" ");
        return new Child(process, Long.parseLong(words[0]), Integer.parseInt(words[1]));
    }

    @Override
    public void close() throws InterruptedException {
        process.kill();
    }
}
