package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.MethodDescriptor;
import java.util.List;

/**
 * What the annotation processor writes for one {@code @RpcService} interface: its names, its fingerprint, its stub and its
 * dispatcher. The generated class is called {@code <Interface>_Rpc} (nested interfaces: {@code Outer_Inner_Rpc}), lies in the
 * interface's package and has a public no-argument constructor.
 *
 * @param <S> the service interface
 */
public abstract class ServiceDefinition<S> {
    public abstract Class<S> type();

    /** The channel name from {@code @RpcService}. */
    public abstract String channel();

    /** Methods in index order. */
    public abstract List<MethodDescriptor> methods();

    /**
     * Hash over the channel name, every method's signature and kind, and the layout of every record, enum, shared type and
     * registered class that they mention, nested ones included. Both ends must agree on it.
     */
    public abstract long fingerprint();

    /** One line per method and per type it mentions, to explain unequal fingerprints to people. */
    public abstract String description();

    /** Classes to register with Kryo, in order. */
    public List<Class<?>> registered() {
        return List.of();
    }

    /** A thread-safe stub that starts every call at {@code calls}. */
    public abstract S stub(ClientCalls calls);

    /** A thread-safe dispatcher that decodes, calls {@code service} and encodes. */
    public abstract Dispatcher dispatcher(S service);

    /**
     * Finds the generated definition of a service interface. Not for the call path.
     *
     * @throws IllegalArgumentException if the processor did not run for that interface, or its module does not export its
     *     package; the message says what to change in the build
     */
    public static <S> ServiceDefinition<S> of(Class<S> service) {
        String generated = generatedName(service);
        try {
            Object definition = Class.forName(generated, true, service.getClassLoader())
                    .getConstructor()
                    .newInstance();
            @SuppressWarnings("unchecked") // the processor writes ServiceDefinition<S> for S under this name
            ServiceDefinition<S> typed = (ServiceDefinition<S>) definition;
            return typed;
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(
                    generated + " is not accessible: put " + service.getModule()
                            + " on the class path, or let its module export " + service.getPackageName(),
                    e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(
                    "No generated class " + generated + " for " + service.getName()
                            + ": annotate the interface with @RpcService and add dev.rackcall:rackcall-processor to the"
                            + " compiler's annotationProcessorPaths",
                    e);
        }
    }

    private static String generatedName(Class<?> service) {
        String packageName = service.getPackageName();
        String simple = service.getName().substring(packageName.isEmpty() ? 0 : packageName.length() + 1);
        return (packageName.isEmpty() ? "" : packageName + ".") + simple.replace('$', '_') + "_Rpc";
    }
}
