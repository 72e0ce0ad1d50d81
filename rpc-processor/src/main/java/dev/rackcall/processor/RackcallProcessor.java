package dev.rackcall.processor;

import java.util.Set;
import javax.annotation.processing.AbstractProcessor;
import javax.annotation.processing.RoundEnvironment;
import javax.annotation.processing.SupportedAnnotationTypes;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.Element;
import javax.lang.model.element.TypeElement;
import javax.lang.model.util.ElementFilter;

/** Entry point: the compiler hands it annotated interfaces, the generators write what belongs to them. */
@SupportedAnnotationTypes(SharedNames.SHARED)
public final class RackcallProcessor extends AbstractProcessor {
    private SharedGenerator shared;

    /** Called by the compiler through {@code ServiceLoader}. */
    public RackcallProcessor() {}

    @Override
    public SourceVersion getSupportedSourceVersion() {
        return SourceVersion.latestSupported();
    }

    @Override
    public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (shared == null) {
            shared = new SharedGenerator(processingEnv);
        }
        for (TypeElement annotation : annotations) {
            Set<? extends Element> annotated = round.getElementsAnnotatedWith(annotation);
            ElementFilter.typesIn(annotated).forEach(shared::generate);
        }
        return false;
    }
}
