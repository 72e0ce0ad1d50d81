package dev.rackcall.rpc.death;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A process whose threads call endlessly, for tests that kill or stop it. Says "calling" once every thread has had an
 * answer.
 */
final class BusyClient {
    private BusyClient() {}

    /**
     * The program.
     *
     * @param arguments the runtime directory, a seed, and the style of each thread
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        long seed = Long.parseLong(arguments[1]);
        for (int i = 2; i < arguments.length; i++) {
            BusyCaller caller = new BusyCaller(BusyCaller.Style.valueOf(arguments[i]), directory, seed + i);
            caller.call();
            Thread thread = new Thread(() -> callOn(caller), "busy-" + arguments[i]);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("calling");
        // Ends with its parent.
        System.in.transferTo(System.out);
    }

    private static void callOn(BusyCaller caller) {
        try {
            while (true) {
                caller.call();
            }
        } catch (Throwable t) {
            t.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }
}
