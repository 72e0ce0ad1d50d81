package dev.rackcall.processor;

import com.palantir.javapoet.AnnotationSpec;
import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import com.palantir.javapoet.WildcardTypeName;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import javax.lang.model.element.Modifier;

/**
 * Writes {@code <Interface>_Rpc}: descriptors, fingerprint, stub, dispatcher and the methods that encode what they
 * share.
 */
final class ServiceWriter {
    private static final String METHODS = "METHODS";
    private static final String DESCRIPTION = "DESCRIPTION";
    private static final String FINGERPRINT = "FINGERPRINT";
    private static final String STUB = "Stub";
    private static final String SERVING = "Serving";

    private final ServiceModel model;
    private final NameAllocator members = new NameAllocator();
    private final MethodNames names;
    private final CodecWriter codec;

    ServiceWriter(ServiceModel model) {
        this.model = model;
        // In the stub, a member of the interface hides a member of the enclosing class.
        Set<String> taken = new TreeSet<>(model.memberNames());
        taken.addAll(List.of(METHODS, DESCRIPTION, FINGERPRINT));
        taken.forEach(members::newName);
        this.names = new MethodNames(model.methods(), members);
        this.codec = new CodecWriter(members);
    }

    TypeSpec write() {
        TypeSpec stub = new StubWriter(model, names, codec, STUB).write();
        TypeSpec serving = new DispatcherWriter(model, names, codec).write(SERVING);
        TypeSpec.Builder type = Sources.classFor(model.type(), model.generatedName())
                .addJavadoc("How {@link $T} travels on the channel {@code $L}.\n", model.name(), model.channel())
                // Deprecations of the interface and its types concern their users, not the generated code.
                .addAnnotation(AnnotationSpec.builder(SuppressWarnings.class)
                        .addMember("value", "{$S, $S}", "deprecation", "removal")
                        .build())
                .addModifiers(Modifier.PUBLIC, Modifier.FINAL)
                .superclass(ParameterizedTypeName.get(RpcNames.SERVICE_DEFINITION, model.name()));
        addDescriptors(type);
        codec.constants().forEach(type::addField);
        type.addMethod(MethodSpec.constructorBuilder()
                .addJavadoc("Called by {@link $T#of}.\n", RpcNames.SERVICE_DEFINITION)
                .addModifiers(Modifier.PUBLIC)
                .build());
        addDefinition(type);
        return type.addType(stub).addType(serving).addMethods(codec.helpers()).build();
    }

    private void addDescriptors(TypeSpec.Builder type) {
        for (int i = 0; i < model.methods().size(); i++) {
            RpcMethod method = model.methods().get(i);
            type.addField(Sources.constant(
                    RpcNames.METHOD_DESCRIPTOR,
                    names.constant(method),
                    CodeBlock.of(
                            "new $T(\n$>$>$S, $S, $S, $L, $T.$L, $L, $T.$L, $L)$<$<",
                            RpcNames.METHOD_DESCRIPTOR,
                            model.channel(),
                            method.name(),
                            method.signature(),
                            i,
                            RpcNames.METHOD_KIND,
                            method.style(),
                            method.idempotent(),
                            RpcNames.ISOLATION,
                            method.isolation(),
                            method.writes())));
        }
        CodeBlock all = model.methods().stream()
                .map(method -> CodeBlock.of("$L", names.constant(method)))
                .collect(CodeBlock.joining(", "));
        String description = model.description();
        type.addField(Sources.constant(
                        listOf(RpcNames.METHOD_DESCRIPTOR), METHODS, CodeBlock.of("$T.of($L)", List.class, all)))
                .addField(Sources.constant(
                        ClassName.get(String.class),
                        DESCRIPTION,
                        CodeBlock.of("$>$>$L$<$<", Sources.text(description))))
                .addField(Sources.constant(
                        TypeName.LONG,
                        FINGERPRINT,
                        CodeBlock.of("0x$LL", Long.toHexString(Fingerprint.of(description)))));
    }

    private void addDefinition(TypeSpec.Builder type) {
        TypeName service = model.name();
        type.addMethod(getter(ParameterizedTypeName.get(ClassName.get(Class.class), service), "type")
                        .addStatement("return $T.class", service)
                        .build())
                .addMethod(getter(ClassName.get(String.class), "channel")
                        .addStatement("return $S", model.channel())
                        .build())
                .addMethod(getter(listOf(RpcNames.METHOD_DESCRIPTOR), "methods")
                        .addStatement("return $L", METHODS)
                        .build())
                .addMethod(getter(TypeName.LONG, "fingerprint")
                        .addStatement("return $L", FINGERPRINT)
                        .build())
                .addMethod(getter(ClassName.get(String.class), "description")
                        .addStatement("return $L", DESCRIPTION)
                        .build());
        if (!model.registered().isEmpty()) {
            type.addMethod(getter(
                            listOf(ParameterizedTypeName.get(
                                    ClassName.get(Class.class), WildcardTypeName.subtypeOf(Object.class))),
                            "registered")
                    .addStatement(
                            "return $T.of($L)",
                            List.class,
                            model.registered().stream()
                                    .map(each -> CodeBlock.of("$T.class", each))
                                    .collect(CodeBlock.joining(", ")))
                    .build());
        }
        type.addMethod(getter(service, "stub")
                        .addParameter(RpcNames.CLIENT_CALLS, "calls")
                        .addStatement("return new $L(calls)", STUB)
                        .build())
                .addMethod(getter(RpcNames.DISPATCHER, "dispatcher")
                        .addParameter(service, "service")
                        .addStatement("return new $L(service)", SERVING)
                        .build());
    }

    private static MethodSpec.Builder getter(TypeName returns, String name) {
        return MethodSpec.methodBuilder(name)
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .returns(returns);
    }

    private static TypeName listOf(TypeName element) {
        return ParameterizedTypeName.get(ClassName.get(List.class), element);
    }
}
