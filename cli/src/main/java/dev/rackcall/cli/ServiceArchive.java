package dev.rackcall.cli;

import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Finds the services in jars and folders of classes. */
final class ServiceArchive {
    private static final String SUFFIX = "_Rpc.class";

    private ServiceArchive() {}

    /** The jars hold no service, or one that cannot be loaded. */
    static final class UnreadableException extends Exception {
        private static final long serialVersionUID = 1L;

        UnreadableException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The services of a class path, by channel.
     *
     * @param classPath jars and folders, separated by {@code :}; services are looked for in the first
     */
    static Map<String, ServedInterface> read(String classPath) throws IOException, UnreadableException {
        List<URL> urls = new ArrayList<>();
        List<Path> places = Stream.of(classPath.split(":")).map(Path::of).toList();
        for (Path place : places) {
            if (!Files.exists(place)) {
                throw new UnreadableException("there is no " + place + "; give a jar or a folder of classes", null);
            }
            urls.add(url(place));
        }
        Map<String, ServedInterface> found = new TreeMap<>();
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ServiceArchive.class.getClassLoader())) {
            for (String name : generatedClasses(places.getFirst())) {
                add(found, loader, name);
            }
        }
        if (found.isEmpty()) {
            throw new UnreadableException(
                    "it holds no service; give the jar with the @RpcService interfaces, built with"
                            + " dev.rackcall:rackcall-processor, as the first",
                    null);
        }
        return found;
    }

    private static URL url(Path place) throws MalformedURLException {
        return place.toUri().toURL();
    }

    private static void add(Map<String, ServedInterface> found, ClassLoader loader, String name)
            throws UnreadableException {
        try {
            Object made = Class.forName(name, true, loader).getConstructor().newInstance();
            if (made instanceof ServiceDefinition<?> definition) {
                found.put(
                        definition.channel(),
                        new ServedInterface(
                                name.replaceAll("_Rpc$", "").replace('_', '.'),
                                definition.fingerprint(),
                                definition.description()));
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new UnreadableException(
                    "the class " + name + " cannot be loaded: " + e
                            + "; if a class is missing, add its jar behind a ':'",
                    e);
        }
    }

    private static List<String> generatedClasses(Path place) throws IOException {
        if (Files.isDirectory(place)) {
            return generatedClassesBelow(place);
        }
        try (FileSystem jar = FileSystems.newFileSystem(place)) {
            return generatedClassesBelow(jar.getPath("/"));
        } catch (java.nio.file.ProviderNotFoundException e) {
            throw new IOException("it is neither a jar nor a folder of classes", e);
        }
    }

    private static List<String> generatedClassesBelow(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString())
                    .filter(file -> file.endsWith(SUFFIX) && !file.startsWith("META-INF"))
                    .map(file ->
                            file.substring(0, file.length() - ".class".length()).replace('/', '.'))
                    .sorted()
                    .toList();
        }
    }
}
