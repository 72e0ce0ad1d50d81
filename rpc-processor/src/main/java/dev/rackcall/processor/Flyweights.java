package dev.rackcall.processor;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.TypeElement;
import javax.lang.model.util.Elements;

/** Knows which {@code @Shared} interfaces have their generated class, in this compilation or in a library. */
final class Flyweights {
    private final Elements elements;
    private final Set<String> generatedHere = new HashSet<>();

    Flyweights(Elements elements) {
        this.elements = elements;
    }

    void generatesHere(TypeElement sharedInterface) {
        generatedHere.add(sharedInterface.getQualifiedName().toString());
    }

    /**
     * What is wrong if the class is missing. Generated code would not compile or not run without it, with messages that
     * do not name the library's build.
     */
    Optional<String> problem(TypeElement sharedInterface) {
        String name = sharedInterface.getQualifiedName().toString();
        String flyweight = Declarations.flyweight(sharedInterface).canonicalName();
        if (generatedHere.contains(name) || elements.getTypeElement(flyweight) != null) {
            return Optional.empty();
        }
        return Optional.of(name + " was compiled without Rackcall's annotation processor, so its class " + flyweight
                + " is missing; add the processor to the build of the library that contains it");
    }
}
