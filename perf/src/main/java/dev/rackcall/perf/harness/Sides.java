package dev.rackcall.perf.harness;

import java.io.Serializable;
import java.nio.file.Path;

/** Starts the two sides of a subject. It travels to their JVMs serialised, so it holds plain values only. */
public interface Sides extends Serializable {
    /** Starts the server side; it answers calls when this returns. */
    ServerSide serve(Path directory) throws Exception;

    /** Connects the client side to the server side that was started with the same directory. */
    ClientSide connect(Path directory) throws Exception;
}
