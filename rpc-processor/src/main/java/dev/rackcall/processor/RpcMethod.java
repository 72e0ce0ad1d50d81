package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.ExecutableElement;

/**
 * One {@code @Rpc} method.
 *
 * @param element its declaration
 * @param style how it is called
 * @param idempotent from the annotation
 * @param isolation name of a constant of {@code Isolation}, from the annotation or else from the service's
 * @param writes whether the handler may store into its shared arguments, from the annotation
 * @param returns what the Java method returns
 * @param parameters in order
 * @param result the type that is sent back, once or per element; empty if nothing is
 * @param varargs whether the last parameter has variable arity
 */
record RpcMethod(
        ExecutableElement element,
        Style style,
        boolean idempotent,
        String isolation,
        boolean writes,
        TypeName returns,
        List<Parameter> parameters,
        Optional<Value> result,
        boolean varargs) {
    /** How a method is called; the constants of {@code MethodDescriptor.Kind}. */
    enum Style {
        UNARY,
        ASYNC,
        ONE_WAY,
        SERVER_STREAM,
        CLIENT_STREAM,
        BIDI_STREAM;

        /** Whether one answer, for which the caller waits, ends the call. */
        boolean isSynchronous() {
            return this == UNARY || this == CLIENT_STREAM;
        }

        boolean returnsStream() {
            return this == SERVER_STREAM || this == BIDI_STREAM;
        }
    }

    /**
     * A parameter.
     *
     * @param value what travels: the argument, or each element of a stream
     * @param streamed whether the parameter is a stream
     */
    record Parameter(String name, Value value, boolean streamed) {
        TypeName type() {
            return streamed
                    ? ParameterizedTypeName.get(
                            ClassName.get(Stream.class), value.type().box())
                    : value.type();
        }
    }

    /** Whether it demands that its shared arguments are kept from changing, if it has any. */
    boolean isIsolated() {
        return !isolation.equals("DEFAULT")
                && !isolation.equals("TRUSTED")
                && parameters.stream().anyMatch(parameter -> parameter.value().mentionsShared());
    }

    /** What a request contains. */
    List<Parameter> arguments() {
        return parameters.stream().filter(each -> !each.streamed()).toList();
    }

    /** The stream that the caller sends, if any. */
    Optional<Parameter> sent() {
        return parameters.stream().filter(Parameter::streamed).findFirst();
    }

    String name() {
        return element.getSimpleName().toString();
    }

    /** The method as a user reads it: simple names, parameter names. */
    String signature() {
        String text = TypeText.of(returns) + " " + name()
                + parameters.stream()
                        .map(parameter -> TypeText.of(parameter.type()) + " " + parameter.name())
                        .collect(Collectors.joining(", ", "(", ")"));
        return varargs ? text.replaceFirst("\\[\\]( [^ ]*\\)$)", "...$1") : text;
    }

    /** What tells overloads apart: the name and the parameter types; also the order of methods. */
    String key() {
        return name()
                + parameters.stream()
                        .map(parameter -> parameter.type().toString())
                        .collect(Collectors.joining(",", "(", ")"));
    }
}
