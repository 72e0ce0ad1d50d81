package dev.rackcall.shm;

import java.lang.reflect.Field;

/**
 * Creates objects of one shared type. The type objects in {@code dev.rackcall.shm.types} extend this class, so that
 * {@link Scope} does not depend on the object model.
 *
 * @param <T> the interface or container
 */
public abstract class SharedFactory<T> {
    private static final ClassValue<SharedFactory<?>> BY_CLASS = new ClassValue<>() {
        @Override
        protected SharedFactory<?> computeValue(Class<?> type) {
            return find(type);
        }
    };

    /**
     * The type object of a {@code @Shared} interface, or of a container without type arguments. Call it during set-up
     * and keep the result.
     *
     * @throws IllegalArgumentException if there is no generated class for it; the message says what to add to the build
     */
    @SuppressWarnings("unchecked") // constant() checks that the type object is the class's own
    public static <T> SharedFactory<T> of(Class<T> type) {
        return (SharedFactory<T>) BY_CLASS.get(type);
    }

    /** The interface or container class. */
    public abstract Class<? super T> type();

    /** Creates an object with all fields zero. */
    public abstract T create(Scope scope);

    private static SharedFactory<?> find(Class<?> type) {
        if (!type.isInterface()) {
            String remedy = type.getName()
                    + " has no type of its own: a shared type is an interface with @Shared, and a container"
                    + " has one for each type of element, for example SharedList.typeOf(SharedType.of(Document.class))";
            return constant(type, type, remedy);
        }
        String generated = generatedName(type);
        String remedy = "No generated class " + generated + " for " + type.getName()
                + ": annotate the interface with @Shared and add dev.rackcall:rackcall-processor to the compiler's"
                + " annotationProcessorPaths";
        try {
            return constant(Class.forName(generated, true, type.getClassLoader()), type, remedy);
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(remedy, e);
        }
    }

    private static SharedFactory<?> constant(Class<?> holder, Class<?> type, String remedy) {
        try {
            Field constant = holder.getDeclaredField("TYPE");
            constant.trySetAccessible(); // the flyweight of a package-private interface is package-private too
            if (constant.get(null) instanceof SharedFactory<?> found && found.type() == type) {
                return found;
            }
            throw new IllegalArgumentException(remedy);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(remedy, e);
        }
    }

    /** {@code a.b.Outer$Inner} becomes {@code a.b.Outer_Inner_Shared}. */
    private static String generatedName(Class<?> type) {
        String packageName = type.getPackageName();
        String simple = type.getName().substring(packageName.isEmpty() ? 0 : packageName.length() + 1);
        return (packageName.isEmpty() ? "" : packageName + ".") + simple.replace('$', '_') + "_Shared";
    }
}
