package dev.rackcall.processor;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.lang.model.util.ElementFilter;

/**
 * Entry point: the compiler hands it annotated interfaces, the generators write what belongs to them. Each generated class depends on one
 * interface and the types that this mentions, so that incremental builds may run it on what changed.
 */
@SupportedAnnotationTypes({SharedNames.SHARED, RpcNames.RPC_SERVICE, RpcNames.RPC})
public final class RackcallProcessor extends AbstractProcessor {
    private final Set<String> waiting = new LinkedHashSet<>();
    private ServiceGenerator services;

    /** Called by the compiler through {@code ServiceLoader}. */
    public RackcallProcessor() {}

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latestSupported();
    }

    @Override
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (services == null) {
            services = new ServiceGenerator(processingEnv);
        }
        for (TypeElement annotation : annotations) {
            Set<? extends Element> annotated = round.getElementsAnnotatedWith(annotation);
            switch (annotation.getQualifiedName().toString()) {
                case SharedNames.SHARED -> ElementFilter.typesIn(annotated).forEach(this::generateFlyweight);
                case RpcNames.RPC_SERVICE ->
                    ElementFilter.typesIn(annotated)
                            .forEach(type -> waiting.add(type.getQualifiedName().toString()));
                default -> ElementFilter.methodsIn(annotated).forEach(services::requireInterface);
            }
        }
        if (round.processingOver()) {
            services.warnOfUnservedInterfaces();
        } else {
            generateServices();
        }
        // Never claimed: javac stops looking for other processors once everything is.
        return false;
    }

    /** Writes {@code <Name>_Shared}; problems become compile errors at the accessors that cause them. */
    private void generateFlyweight(TypeElement sharedInterface) {
        SharedModel model = SharedModel.of(sharedInterface);
        model.problems().forEach(each -> processingEnv.getMessager().printError(each.message(), each.at()));
        if (model.problems().isEmpty()) {
            Sources.write(
                    processingEnv,
                    sharedInterface,
                    Declarations.flyweight(sharedInterface),
                    new SharedWriter(model).write());
        }
    }

    /** What waits to the end mentions a type that nobody generated: the compiler says so itself. */
    private void generateServices() {
        waiting.removeIf(
                name -> Optional.ofNullable(processingEnv.getElementUtils().getTypeElement(name))
                        .map(services::generate)
                        .orElse(false));
    }
}
