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
 * A plugin of javac that hands all its options to Error Prone, and keeps Error Prone's class loader as long as the JVM lives in which Maven runs javac.
 * Javac makes a class loader of its own for each compilation, and to load and warm up Error Prone two dozen times takes more than to check the sources.
 * Compilations with the same processor path share one, also at the same time: checks are made anew for each compilation, and keep nothing in statics.
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

    /** The class loader of this one's processor path. This class itself is loaded by each javac, so what is kept has to lie in the JDK. */
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
