package dev.rackcall.processor;

import com.palantir.javapoet.TypeName;
import dev.rackcall.processor.RpcMethod.Parameter;
import dev.rackcall.processor.RpcMethod.Style;
import dev.rackcall.processor.SharedModel.Problem;
import dev.rackcall.processor.ValueReader.UnsupportedTypeException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.annotation.processing.ProcessingEnvironment;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** Reads a service interface and collects all problems. */
final class ServiceReader {
    private static final String STREAM = "java.util.stream.Stream";

    private final Types types;
    private final Elements elements;
    private final TypeElement service;
    private final String name;
    private final List<Problem> problems = new ArrayList<>();

    ServiceReader(ProcessingEnvironment environment, TypeElement service) {
        this.types = environment.getTypeUtils();
        this.elements = environment.getElementUtils();
        this.service = service;
        this.name = service.getSimpleName().toString();
    }

    List<Problem> problems() {
        return problems;
    }

    /** The model; empty if there are {@link #problems()}. */
    Optional<ServiceModel> read() {
        ServiceAnnotation annotation = new ServiceAnnotation(types, elements, service, this::problem);
        String channel = annotation.channel();
        List<TypeMirror> registered = annotation.registered();
        List<RpcMethod> methods = new ArrayList<>();
        if (isInterfaceThatCanBeImplemented()) {
            ValueReader values = new ValueReader(types, elements, elements.getPackageOf(service), registered);
            for (ExecutableElement method :
                    new ServiceMethods(types, elements, service, this::problem).abstractOnes()) {
                read(method, values).ifPresent(methods::add);
            }
        }
        methods.sort(Comparator.comparing(RpcMethod::key));
        return problems.isEmpty()
                ? Optional.of(new ServiceModel(service, channel, methods, registered, memberNames()))
                : Optional.empty();
    }

    private Set<String> memberNames() {
        return elements.getAllMembers(service).stream()
                .map(member -> member.getSimpleName().toString())
                .collect(Collectors.toSet());
    }

    private boolean isInterfaceThatCanBeImplemented() {
        if (service.getKind() != ElementKind.INTERFACE) {
            problem(
                    service,
                    name + ": @RpcService goes on an interface, but this is a "
                            + service.getKind()
                                    .toString()
                                    .toLowerCase(Locale.ROOT)
                                    .replace('_', ' ')
                            + "; extract an interface with the methods to call");
            return false;
        }
        if (!service.getTypeParameters().isEmpty()) {
            problem(
                    service,
                    name + ": a service has fixed types, so it cannot be generic; remove "
                            + service.getTypeParameters());
        }
        if (service.getModifiers().contains(Modifier.SEALED)) {
            problem(service, name + ": the generated stub must implement it; remove sealed");
        }
        for (Element each = service; !(each instanceof PackageElement); each = each.getEnclosingElement()) {
            if (each.getModifiers().contains(Modifier.PRIVATE)) {
                problem(
                        service,
                        name + ": generated code beside it cannot reach it, because " + each.getSimpleName()
                                + " is private; make that package-private or public");
            }
        }
        return true;
    }

    private Optional<RpcMethod> read(ExecutableElement method, ValueReader values) {
        AnnotationMirror rpc = Declarations.annotation(method, RpcNames.RPC).orElseThrow();
        String where = name + "." + method.getSimpleName();
        int before = problems.size();
        if (!method.getTypeParameters().isEmpty()) {
            problem(
                    method,
                    where + ": a call has fixed types, so the method cannot be generic; remove "
                            + method.getTypeParameters());
            return Optional.empty();
        }
        ExecutableType resolved = (ExecutableType) types.asMemberOf((DeclaredType) service.asType(), method);
        refuseCheckedExceptions(method, resolved, where);
        List<Parameter> parameters = new ArrayList<>();
        for (int i = 0; i < method.getParameters().size(); i++) {
            parameter(
                            method.getParameters().get(i),
                            values,
                            resolved.getParameterTypes().get(i),
                            where)
                    .ifPresent(parameters::add);
        }
        Style answer = style(method, resolved.getReturnType(), ServiceAnnotation.flag(rpc, "oneWay"), where);
        Optional<Value> result = result(method, values, resolved.getReturnType(), answer, where);
        Style style = withSent(method, answer, parameters, ServiceAnnotation.flag(rpc, "idempotent"), where);
        boolean writes = ServiceAnnotation.flag(rpc, "writes");
        if (writes && problems.size() == before) {
            requireStoresToReturn(method, style, parameters, where);
        }
        return problems.size() > before
                ? Optional.empty()
                : Optional.of(new RpcMethod(
                        method,
                        style,
                        ServiceAnnotation.flag(rpc, "idempotent"),
                        ServiceAnnotation.isolation(rpc)
                                .or(() -> ServiceAnnotation.isolation(
                                        Declarations.annotation(service, RpcNames.RPC_SERVICE)
                                                .orElseThrow()))
                                .orElse(ServiceAnnotation.DEFAULT_ISOLATION),
                        writes,
                        TypeName.get(resolved.getReturnType()),
                        parameters,
                        result,
                        method.isVarArgs()));
    }

    private Optional<Parameter> parameter(VariableElement declared, ValueReader values, TypeMirror type, String where) {
        String parameter = declared.getSimpleName().toString();
        String what = where + ": parameter '" + parameter + "'";
        if (qualifiedName(type).equals("java.util.concurrent.Flow.Publisher")) {
            problem(
                    declared,
                    what + " has type " + TypeName.get(type) + "; pass a Stream, which Rackcall reads as fast"
                            + " as the handler takes its elements");
            return Optional.empty();
        }
        if (!qualifiedName(type).equals(STREAM)) {
            return value(declared, values, type, what).map(value -> new Parameter(parameter, value, false));
        }
        List<? extends TypeMirror> arguments = ((DeclaredType) type).getTypeArguments();
        if (arguments.isEmpty()) {
            problem(
                    declared,
                    what
                            + " has type Stream without a type argument, so nothing says what to encode; write for example "
                            + StandardTypes.example("Stream"));
            return Optional.empty();
        }
        Optional<Value> element =
                value(declared, values, arguments.get(0), what + " has type " + TypeName.get(type) + ", whose element");
        if (element.filter(Value::mentionsShared).isPresent()) {
            problem(
                    declared,
                    what + " has type " + TypeName.get(type)
                            + ", but the elements that a caller sends are copied, and a"
                            + " shared object is not; send records, or pass a SharedList as a parameter of its own");
            return Optional.empty();
        }
        return element.map(value -> new Parameter(parameter, value, true));
    }

    /** The style of a method with these parameters that is answered in style {@code answer}. */
    private Style withSent(
            ExecutableElement method, Style answer, List<Parameter> parameters, boolean idempotent, String where) {
        List<Parameter> sent = parameters.stream().filter(Parameter::streamed).toList();
        if (sent.isEmpty()) {
            return answer;
        }
        if (sent.size() > 1) {
            problem(
                    method,
                    where + ": a call sends one stream, but '" + sent.get(0).name() + "' and '"
                            + sent.get(1).name()
                            + "' are two; send one stream of a sealed interface with a record for each kind of element");
        }
        if (idempotent) {
            problem(
                    method,
                    where + ": @Rpc(idempotent = true) lets the call be repeated, but the stream '"
                            + sent.get(0).name() + "' can be read only once; remove idempotent");
        }
        if (answer == Style.ASYNC || answer == Style.ONE_WAY) {
            problem(
                    method,
                    where + ": "
                            + (answer == Style.ASYNC ? "returns a CompletableFuture" : "is one-way")
                            + ", but a call that sends a stream is waited for; return the value itself or void, and call it on"
                            + " a virtual thread");
        }
        return answer.returnsStream() ? Style.BIDI_STREAM : Style.CLIENT_STREAM;
    }

    private void refuseCheckedExceptions(ExecutableElement method, ExecutableType resolved, String where) {
        for (TypeMirror thrown : resolved.getThrownTypes()) {
            boolean unchecked = List.of("java.lang.RuntimeException", "java.lang.Error").stream()
                    .anyMatch(each -> types.isSubtype(
                            thrown, elements.getTypeElement(each).asType()));
            if (!unchecked) {
                problem(
                        method,
                        where + ": declares " + TypeName.get(thrown)
                                + ", but a failed call always arrives as RpcException; remove the declaration,"
                                + " and let the handler throw RpcException with the status that it means");
            }
        }
    }

    private void requireStoresToReturn(
            ExecutableElement method, Style style, List<Parameter> parameters, String where) {
        if (style != Style.UNARY && style != Style.ASYNC) {
            problem(
                    method,
                    where
                            + ": with @Rpc(writes = true) the caller sees the handler's stores when the one answer arrives, and "
                            + (switch (style) {
                                case ONE_WAY -> "a one-way call has none";
                                case CLIENT_STREAM -> "a call that sends a stream may last long";
                                default -> "a stream has many";
                            })
                            + "; return a value, void or a CompletableFuture, or remove writes");
        }
        if (parameters.stream().noneMatch(parameter -> parameter.value().mentionsShared())) {
            problem(
                    method,
                    where + ": @Rpc(writes = true) lets the handler store into shared objects, but no parameter is one;"
                            + " values arrive as copies. Remove writes, or pass a @Shared interface");
        }
    }

    private Style style(ExecutableElement method, TypeMirror returns, boolean oneWay, String where) {
        if (oneWay) {
            if (returns.getKind() != TypeKind.VOID) {
                problem(
                        method,
                        where + ": nothing comes back from @Rpc(oneWay = true), but it returns " + TypeName.get(returns)
                                + "; make it void or remove oneWay");
            }
            return Style.ONE_WAY;
        }
        return switch (qualifiedName(returns)) {
            case "java.util.concurrent.CompletableFuture" -> Style.ASYNC;
            case STREAM -> Style.SERVER_STREAM;
            default -> Style.UNARY;
        };
    }

    private Optional<Value> result(
            ExecutableElement method, ValueReader values, TypeMirror returns, Style style, String where) {
        if (returns.getKind() == TypeKind.VOID || style == Style.ONE_WAY) {
            return Optional.empty();
        }
        if (style == Style.UNARY) {
            if (qualifiedName(returns)
                    .matches("java\\.util\\.concurrent\\.(CompletionStage|Future|Flow\\.Publisher)")) {
                problem(
                        method,
                        where + ": returns " + TypeName.get(returns)
                                + "; return a CompletableFuture for one result or a Stream for many");
                return Optional.empty();
            }
            return value(method, values, returns, where + ": its result");
        }
        List<? extends TypeMirror> arguments = ((DeclaredType) returns).getTypeArguments();
        if (arguments.isEmpty()) {
            problem(
                    method,
                    where + ": its result has type " + TypeName.get(returns)
                            + " without a type argument, so nothing says what to encode; write for example "
                            + StandardTypes.example(((DeclaredType) returns)
                                    .asElement()
                                    .getSimpleName()
                                    .toString()));
            return Optional.empty();
        }
        if (style == Style.ASYNC && qualifiedName(arguments.get(0)).equals("java.lang.Void")) {
            return Optional.empty();
        }
        return value(
                method,
                values,
                arguments.get(0),
                where + ": its result has type " + TypeName.get(returns) + ", whose element");
    }

    private Optional<Value> value(Element at, ValueReader values, TypeMirror type, String what) {
        try {
            return Optional.of(values.read(type));
        } catch (UnsupportedTypeException e) {
            problem(at, what + " " + e.getMessage());
            return Optional.empty();
        }
    }

    private static String qualifiedName(TypeMirror type) {
        return Declarations.declaration(type)
                .map(element -> element.getQualifiedName().toString())
                .orElse("");
    }

    private void problem(Element at, String message) {
        problems.add(new Problem(isInside(at) ? at : service, message));
    }

    /** A message about an inherited method belongs to the service: the method's declaration may lie in a library. */
    private boolean isInside(Element at) {
        for (Element each = at; each != null; each = each.getEnclosingElement()) {
            if (each.equals(service)) {
                return true;
            }
        }
        return false;
    }
}
