package dev.rackcall.processor;

import com.palantir.javapoet.JavaFile;
import dev.rackcall.processor.SharedModel.Problem;
import dev.rackcall.processor.ValueReader.UnresolvedTypeException;
import java.io.IOException;
import java.util.Optional;
import javax.annotation.processing.FilerException;
import javax.annotation.processing.Messager;
import javax.annotation.processing.ProcessingEnvironment;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;

/** Writes {@code <Name>_Rpc} for each {@code @RpcService} interface, or says what has to change in it. */
final class ServiceGenerator {
    private final ProcessingEnvironment environment;
    private final Messager messager;

    ServiceGenerator(ProcessingEnvironment environment) {
        this.environment = environment;
        this.messager = environment.getMessager();
    }

    /**
     * Generates the definition of one annotated declaration; problems become compile errors at the methods that cause them.
     *
     * @return false if it mentions a type that does not exist yet: try again when other processors have generated more
     */
    boolean generate(TypeElement service) {
        ServiceReader reader = new ServiceReader(environment, service);
        Optional<ServiceModel> model;
        try {
            model = reader.read();
        } catch (UnresolvedTypeException e) {
            return false;
        }
        for (Problem problem : reader.problems()) {
            messager.printError(problem.message(), problem.at());
        }
        model.ifPresent(this::write);
        return true;
    }

    private void write(ServiceModel model) {
        try {
            JavaFile.builder(model.generatedName().packageName(), new ServiceWriter(model).write())
                    .indent("    ")
                    .skipJavaLangImports(true)
                    .build()
                    .writeTo(environment.getFiler());
        } catch (FilerException e) {
            messager.printError(
                    model.type().getSimpleName() + ": the name of its generated class, "
                            + model.generatedName().simpleName() + ", is taken; rename one of them",
                    model.type());
        } catch (IOException e) {
            messager.printError(
                    model.type().getSimpleName() + ": cannot write its generated class: " + e.getMessage(),
                    model.type());
        }
    }

    /** An {@code @Rpc} that nothing will ever look at is a mistake worth an error. */
    void requireInterface(ExecutableElement rpcMethod) {
        Element declaring = rpcMethod.getEnclosingElement();
        if (declaring.getKind() != ElementKind.INTERFACE) {
            messager.printError(
                    Declarations.name(rpcMethod)
                            + ": @Rpc means something only in an @RpcService interface or one that it"
                            + " extends; move it there",
                    rpcMethod);
        }
    }
}
