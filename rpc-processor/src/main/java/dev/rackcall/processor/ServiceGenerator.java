package dev.rackcall.processor;

import dev.rackcall.processor.SharedModel.Problem;
import dev.rackcall.processor.ValueReader.UnresolvedTypeException;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import javax.annotation.processing.Messager;
import javax.annotation.processing.ProcessingEnvironment;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;

/** Writes {@code <Name>_Rpc} for each {@code @RpcService} interface, or reports what has to change in it. */
final class ServiceGenerator {
    private final ProcessingEnvironment environment;
    private final Flyweights flyweights;
    private final Messager messager;
    private final Set<String> declaringRpc = new LinkedHashSet<>();
    /** Services, and the interfaces that they extend. */
    private final Set<String> serving = new HashSet<>();

    ServiceGenerator(ProcessingEnvironment environment, Flyweights flyweights) {
        this.environment = environment;
        this.flyweights = flyweights;
        this.messager = environment.getMessager();
    }

    /**
     * Generates the definition of one annotated declaration; problems become compile errors at the methods that cause
     * them.
     *
     * @return false if it mentions a type that does not exist yet: try again when other processors have generated more
     */
    boolean generate(TypeElement service) {
        serves(service);
        ServiceReader reader = new ServiceReader(environment, service);
        Optional<ServiceModel> model;
        try {
            model = reader.read();
        } catch (UnresolvedTypeException e) {
            return false;
        }
        model.stream().flatMap(read -> read.values().stream()).forEach(value -> {
            if (value instanceof Value.Shared shared) {
                flyweights
                        .problem(shared.element())
                        .ifPresent(what -> messager.printError(service.getSimpleName() + ": " + what, service));
            }
        });
        for (Problem problem : reader.problems()) {
            messager.printError(problem.message(), problem.at());
        }
        model.ifPresent(
                read -> Sources.write(environment, service, read.generatedName(), new ServiceWriter(read).write()));
        return true;
    }

    /**
     * Warns, after the last round, of interfaces with {@code @Rpc} methods that are not services and that no service
     * here extends.
     */
    void warnOfUnservedInterfaces() {
        for (String name : declaringRpc) {
            TypeElement declaring = environment.getElementUtils().getTypeElement(name);
            if (declaring != null && !serving.contains(name)) {
                messager.printWarning(
                        declaring.getSimpleName()
                                + ": has @Rpc methods but is no service, so nothing is generated for it; annotate it with"
                                + " @RpcService(\"/its/channel\"), or let a service of this compilation extend it",
                        declaring);
            }
        }
    }

    private void serves(TypeElement type) {
        if (serving.add(type.getQualifiedName().toString())) {
            type.getInterfaces()
                    .forEach(parent -> Declarations.declaration(parent).ifPresent(this::serves));
        }
    }

    /**
     * Reports an error for an {@code @Rpc} that can never take effect; one that a service elsewhere may inherit only
     * gets a warning at the end.
     */
    void requireInterface(ExecutableElement rpcMethod) {
        Element declaring = rpcMethod.getEnclosingElement();
        if (declaring.getKind() == ElementKind.INTERFACE) {
            declaringRpc.add(((TypeElement) declaring).getQualifiedName().toString());
        } else {
            messager.printError(
                    Declarations.name(rpcMethod)
                            + ": @Rpc means something only in an @RpcService interface or one that it"
                            + " extends; move it there",
                    rpcMethod);
        }
    }
}
