package dev.rackcall.processor;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import javax.lang.model.element.AnnotationMirror;
import javax.lang.model.element.Element;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.ExecutableType;
import javax.lang.model.util.ElementFilter;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;

/** The methods that a stub implements: the declared and inherited abstract methods of the interface, each once. */
final class ServiceMethods {
    private final Types types;
    private final Elements elements;
    private final TypeElement service;
    private final BiConsumer<Element, String> problem;

    ServiceMethods(Types types, Elements elements, TypeElement service, BiConsumer<Element, String> problem) {
        this.types = types;
        this.elements = elements;
        this.service = service;
        this.problem = problem;
    }

    /** The abstract methods with {@code @Rpc}; a missing or misplaced annotation becomes a problem. */
    List<ExecutableElement> abstractOnes() {
        List<ExecutableElement> found = new ArrayList<>();
        for (ExecutableElement method : inherited()) {
            boolean rpc = Declarations.has(method, RpcNames.RPC);
            String where = service.getSimpleName() + "." + method.getSimpleName();
            if (!method.getModifiers().contains(Modifier.ABSTRACT)) {
                if (rpc) {
                    problem.accept(
                            method,
                            where
                                    + ": has a body, which runs at the caller; remove @Rpc, or the body if it is to be called");
                }
            } else if (!rpc) {
                problem.accept(
                        method,
                        where + ": every abstract method of a service is called remotely; add @Rpc, or give it a body");
            } else {
                add(found, method);
            }
        }
        return found;
    }

    /** All methods except overridden ones, those of {@code Object}, and static methods of other interfaces. */
    private List<ExecutableElement> inherited() {
        List<ExecutableElement> all = ElementFilter.methodsIn(elements.getAllMembers(service));
        List<ExecutableElement> visible = new ArrayList<>();
        for (ExecutableElement method : all) {
            boolean hidden =
                    all.stream().anyMatch(other -> !other.equals(method) && elements.overrides(other, method, service));
            boolean foreign = method.getModifiers().contains(Modifier.STATIC)
                    && !method.getEnclosingElement().equals(service);
            if (!hidden && !foreign && !Declarations.isOfObject(method)) {
                visible.add(method);
            }
        }
        return visible;
    }

    /** Adds a method once if several super-interfaces declare it; a problem if their declarations differ. */
    private void add(List<ExecutableElement> found, ExecutableElement method) {
        for (ExecutableElement other : found) {
            if (other.getSimpleName().equals(method.getSimpleName())
                    && types.isSubsignature(resolved(other), resolved(method))) {
                if (!agree(other, method)) {
                    List<String> origins = Stream.of(other, method)
                            .map(each -> each.getEnclosingElement().toString())
                            .sorted()
                            .toList();
                    problem.accept(
                            service,
                            service.getSimpleName() + "." + method.getSimpleName() + ": inherited from "
                                    + origins.get(0) + " and, with another result or another @Rpc, from "
                                    + origins.get(1) + "; declare it in " + service.getSimpleName()
                                    + " again");
                }
                return;
            }
        }
        found.add(method);
    }

    private boolean agree(ExecutableElement one, ExecutableElement other) {
        AnnotationMirror first = Declarations.annotation(one, RpcNames.RPC).orElseThrow();
        AnnotationMirror second = Declarations.annotation(other, RpcNames.RPC).orElseThrow();
        return ServiceAnnotation.flag(first, "oneWay") == ServiceAnnotation.flag(second, "oneWay")
                && ServiceAnnotation.flag(first, "idempotent") == ServiceAnnotation.flag(second, "idempotent")
                && ServiceAnnotation.isolation(first).equals(ServiceAnnotation.isolation(second))
                && types.isSameType(
                        resolved(one).getReturnType(), resolved(other).getReturnType());
    }

    private ExecutableType resolved(ExecutableElement method) {
        return (ExecutableType) types.asMemberOf((DeclaredType) service.asType(), method);
    }
}
