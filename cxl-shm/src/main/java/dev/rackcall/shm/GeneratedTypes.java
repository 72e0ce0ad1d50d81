package dev.rackcall.shm;

import java.lang.reflect.Field;

/** Finds the type object that belongs to a class. Set-up only. */
final class GeneratedTypes {
    private GeneratedTypes() {}

    static SharedType<?> find(Class<?> type) {
        if (SharedObject.class.isAssignableFrom(type)) {
            return constant(
                    type,
                    type,
                    type.getName()
                            + " has no type of its own; containers of elements have one for each type of element,"
                            + " for example SharedList.typeOf(SharedType.of(Document.class))");
        }
        String generated = generatedName(type);
        String remedy = "No generated class " + generated + " for " + type.getName()
                + ": annotate the interface with @Shared and add dev.rackcall:rpc-processor to the compiler's"
                + " annotationProcessorPaths";
        try {
            return constant(Class.forName(generated, true, type.getClassLoader()), type, remedy);
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(remedy, e);
        }
    }

    private static SharedType<?> constant(Class<?> holder, Class<?> type, String remedy) {
        try {
            Field constant = holder.getDeclaredField("TYPE");
            constant.trySetAccessible(); // the flyweight of a package-private interface is package-private too
            if (constant.get(null) instanceof SharedType<?> found && found.type() == type) {
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
