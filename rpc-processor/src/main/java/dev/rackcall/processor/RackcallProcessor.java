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
 * The entry point: the compiler passes annotated interfaces, and the generators write their classes. A generated class
 * depends on one interface and the types that it mentions, so incremental builds can process only the changed
 * interfaces.
 */
@SupportedAnnotationTypes({
    SharedNames.SHARED,
    SharedNames.FIXED_STRING,
    SharedNames.INLINE,
    SharedNames.LENGTH,
    SharedNames.SINCE,
    RackcallProcessor.GENERATED,
    RpcNames.RPC_SERVICE,
    RpcNames.RPC,
    RpcNames.DEFAULT
})
public final class RackcallProcessor extends AbstractProcessor {
    /** On the classes that processors generate. */
    static final String GENERATED = "javax.annotation.processing.Generated";

    private final Set<String> waiting = new LinkedHashSet<>();
    private ServiceGenerator services;
    private Flyweights flyweights;

    /** Called by the compiler through {@code ServiceLoader}. */
    public RackcallProcessor() {}

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latestSupported();
    }

    @Override
    @SuppressWarnings("DoNotClaimAnnotations") // javac warns about annotations that no processor claims; see below
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (services == null) {
            flyweights = new Flyweights(processingEnv.getElementUtils());
            services = new ServiceGenerator(processingEnv, flyweights);
        }
        for (TypeElement annotation : annotations) {
            Set<? extends Element> annotated = round.getElementsAnnotatedWith(annotation);
            switch (annotation.getQualifiedName().toString()) {
                case SharedNames.SHARED -> {
                    ElementFilter.typesIn(annotated).forEach(flyweights::generatesHere);
                    ElementFilter.typesIn(annotated).forEach(this::generateFlyweight);
                }
                case RpcNames.RPC_SERVICE ->
                    ElementFilter.typesIn(annotated)
                            .forEach(type -> waiting.add(type.getQualifiedName().toString()));
                case RpcNames.RPC -> ElementFilter.methodsIn(annotated).forEach(services::requireInterface);
                default -> {
                    // Read with the interface whose fields it describes.
                }
            }
        }
        if (round.processingOver()) {
            services.warnOfUnservedInterfaces();
        } else {
            generateServices();
        }
        // Claimed, or -Xlint:processing would warn. But where these are the only annotations, javac then skips
        // processors for any annotation, one of which may yet generate a type that a service waits for.
        return waiting.isEmpty();
    }

    /** Writes {@code <Name>_Shared}; problems become compile errors at the accessors that cause them. */
    private void generateFlyweight(TypeElement sharedInterface) {
        SharedModel model = SharedModel.of(sharedInterface);
        model.problems().forEach(each -> processingEnv.getMessager().printError(each.message(), each.at()));
        for (SharedField field : model.fields()) {
            for (TypeElement mentioned : field.type().mentions()) {
                flyweights
                        .problem(mentioned)
                        .ifPresent(what -> processingEnv
                                .getMessager()
                                .printError(Declarations.name(field.getter()) + ": " + what, field.getter()));
            }
        }
        if (model.problems().isEmpty()) {
            Sources.write(
                    processingEnv,
                    sharedInterface,
                    Declarations.flyweight(sharedInterface),
                    new SharedWriter(model).write());
        }
    }

    /**
     * Retries in each round. A service that waits until the end mentions a missing type, which the compiler reports.
     */
    private void generateServices() {
        waiting.removeIf(
                name -> Optional.ofNullable(processingEnv.getElementUtils().getTypeElement(name))
                        .map(services::generate)
                        .orElse(false));
    }
}
