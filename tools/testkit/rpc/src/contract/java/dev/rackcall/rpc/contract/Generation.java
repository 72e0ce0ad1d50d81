package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * One version of a service, compiled at run time from sources of its own and loaded by a class loader of its own. One
 * process can thus hold several versions of the same classes.
 */
public final class Generation implements AutoCloseable {
    /** What the sources contain besides the service, as a public class with a public constructor. */
    public interface Ends {
        RpcServer.Builder serve(RpcServer.Builder server);

        /** A client of the service. */
        Client client(RpcChannel channel, CallOptions options);
    }

    /** Calls a service. */
    @FunctionalInterface
    public interface Client {
        /** Makes the named calls and returns what they returned, as text. */
        String call(String what, int number);
    }

    /** How many of a service's one-way calls servers of this process have got. */
    public static final AtomicInteger HINTS = new AtomicInteger();

    private final Path folder;
    private final URLClassLoader loader;
    private final Ends ends;

    private Generation(Path folder, URLClassLoader loader, Ends ends) {
        this.folder = folder;
        this.loader = loader;
        this.ends = ends;
    }

    /**
     * Compiles sources with the annotation processor.
     *
     * @param folder where the classes go
     * @param sources by class name
     * @param ends the name of the class that implements {@link Ends}
     */
    public static Generation compile(Path folder, Map<String, String> sources, String ends) throws Exception {
        compile(folder, sources);
        return load(folder, ends);
    }

    /** Loads what {@link #compile(Path, Map, String)} has compiled, perhaps in another process. */
    public static Generation load(Path folder, String ends) throws Exception {
        URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, Generation.class.getClassLoader());
        return new Generation(folder, loader, (Ends)
                loader.loadClass(ends).getDeclaredConstructor().newInstance());
    }

    /** Compiles sources into a folder. */
    public static void compile(Path folder, Map<String, String> sources) throws IOException {
        Files.createDirectories(folder);
        String classPath = System.getProperty("java.class.path");
        List<JavaFileObject> files = sources.entrySet().stream()
                .map(each -> (JavaFileObject) new Source(each.getKey(), each.getValue()))
                .toList();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter out = new StringWriter();
        boolean done = compiler.getTask(
                        out,
                        null,
                        null,
                        List.of(
                                "-d",
                                folder.toString(),
                                "-cp",
                                classPath,
                                "-processorpath",
                                classPath,
                                "-processor",
                                "dev.rackcall.processor.RackcallProcessor",
                                "-parameters"),
                        null,
                        files)
                .call();
        assertThat(done).as("compiled: %s", out).isTrue();
    }

    /** Where its classes are. */
    public Path folder() {
        return folder;
    }

    public RpcServer.Builder serve(RpcServer.Builder server) {
        return ends.serve(server);
    }

    public Client client(RpcChannel channel) {
        return client(channel, CallOptions.DEFAULT);
    }

    Client client(RpcChannel channel, CallOptions options) {
        return ends.client(channel, options);
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String className, String text) {
            super(URI.create("string:///" + className.replace('.', '/') + Kind.SOURCE.extension), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }
}
