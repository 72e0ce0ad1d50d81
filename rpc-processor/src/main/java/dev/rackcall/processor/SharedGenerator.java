package dev.rackcall.processor;

import com.palantir.javapoet.JavaFile;
import java.io.IOException;
import javax.annotation.processing.FilerException;
import javax.annotation.processing.Messager;
import javax.annotation.processing.ProcessingEnvironment;
import javax.lang.model.element.TypeElement;

/** Writes {@code <Name>_Shared} for each {@code @Shared} interface, or says what has to change in it. */
final class SharedGenerator {
    private final ProcessingEnvironment environment;

    SharedGenerator(ProcessingEnvironment environment) {
        this.environment = environment;
    }

    /** Generates the flyweight of one annotated declaration; problems become compile errors at the accessors that cause them. */
    void generate(TypeElement sharedInterface) {
        Messager messager = environment.getMessager();
        SharedModel model = SharedModel.of(sharedInterface);
        for (SharedModel.Problem problem : model.problems()) {
            messager.printError(problem.message(), problem.at());
        }
        if (!model.problems().isEmpty()) {
            return;
        }
        String packageName = Declarations.flyweight(sharedInterface).packageName();
        try {
            JavaFile.builder(packageName, new SharedWriter(model).write())
                    .indent("    ")
                    .skipJavaLangImports(true)
                    .build()
                    .writeTo(environment.getFiler());
        } catch (FilerException e) {
            messager.printError(
                    model.name() + ": another shared interface generates "
                            + Declarations.flyweight(sharedInterface).simpleName() + " too; rename one of them",
                    sharedInterface);
        } catch (IOException e) {
            messager.printError(
                    model.name() + ": cannot write its generated class: " + e.getMessage(), sharedInterface);
        }
    }
}
