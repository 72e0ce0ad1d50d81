package dev.rackcall.build;

import com.sun.source.util.JavacTask;
import com.sun.source.util.Plugin;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * A plugin of javac that hands all its options to Error Prone, and keeps Error Prone's class loader as long as the JVM
 * in which Maven runs javac. Javac by itself makes a class loader for each compilation, and loading and warming up
 * Error Prone two dozen times takes longer than checking the sources. Compilations with the same processor path share
 * one loader, even if they run at the same time: each compilation creates its own checks, which keep nothing in
 * statics.
 */
public final class ErrorProneOnce implements Plugin {
    private static final String ERROR_PRONE = "ErrorProne";

    /** For {@link ServiceLoader}. */
    public ErrorProneOnce() {}

    @Override
    public String getName() {
        return "ErrorProneOnce";
    }

    @Override
    public void init(JavacTask task, String... options) {
        for (Plugin plugin : ServiceLoader.load(Plugin.class, kept())) {
            if (plugin.getName().equals(ERROR_PRONE)) {
                plugin.init(task, options);
                return;
            }
        }
        throw new IllegalStateException("there is no plugin " + ERROR_PRONE + " on javac's processor path");
    }

    /**
     * The class loader of this one's processor path. Each javac loads this class again, so the kept loader is stored
     * in an object of the JDK.
     */
    private static ClassLoader kept() {
        URLClassLoader ofThisJavac = (URLClassLoader) ErrorProneOnce.class.getClassLoader();
        URL[] path = ofThisJavac.getURLs();
        List<String> key = Arrays.stream(path).map(URL::toString).toList();
        Map<Object, Object> ofThisJvm = System.getProperties();
        synchronized (ofThisJvm) {
            Object kept = ofThisJvm.get(key);
            if (kept == null) {
                kept = new URLClassLoader(path, ofThisJavac.getParent());
                ofThisJvm.put(key, kept);
            }
            return (ClassLoader) kept;
        }
    }
}
