package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import dev.rackcall.processor.CodecWriter.Place;
import dev.rackcall.processor.CodecWriter.Side;
import dev.rackcall.processor.RpcMethod.Parameter;
import dev.rackcall.processor.RpcMethod.Style;
import javax.lang.model.element.Modifier;

/** Writes the class that implements the service interface at the client. */
final class StubWriter {
    /** The name of a result in payload exceptions. */
    static final CodeBlock RESULT = CodeBlock.of("$S", "result");

    private final ServiceModel model;
    private final MethodNames names;
    private final CodecWriter codec;
    private final String className;

    StubWriter(ServiceModel model, MethodNames names, CodecWriter codec, String className) {
        this.model = model;
        this.names = names;
        this.codec = codec;
        this.className = className;
    }

    TypeSpec write() {
        TypeSpec.Builder stub = TypeSpec.classBuilder(className)
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .addSuperinterface(model.name())
                // The stub inherits the interface's nested types, which would hide imports of the same name.
                .avoidClashesWithNestedClasses(model.type());
        for (RpcMethod method : model.methods()) {
            if (method.style() == Style.ASYNC || method.style().returnsStream()) {
                stub.addField(reader(method));
            }
            method.sent().ifPresent(sent -> stub.addField(elementWriter(method, sent)));
        }
        stub.addField(RpcNames.CLIENT_CALLS, "calls", Modifier.PRIVATE, Modifier.FINAL)
                .addMethod(MethodSpec.constructorBuilder()
                        .addParameter(RpcNames.CLIENT_CALLS, "calls")
                        .addStatement("this.calls = calls")
                        .build());
        model.methods().forEach(method -> stub.addMethod(method(method)));
        return stub.build();
    }

    private FieldSpec reader(RpcMethod method) {
        Place place = new Place(Side.CLIENT, "in", "call");
        TypeName type = method.result().map(value -> value.type().box()).orElse(ClassName.get(Void.class));
        CodeBlock reader;
        if (method.result().isEmpty()) {
            reader = CodeBlock.of("(in, call) -> {\n$>in.expectEnd();\nreturn null;\n$<}");
        } else {
            CodeBlock value = codec.read(method.result().get(), RESULT, place);
            // The elements of a stream follow one another, so only the runtime knows the end of the last one.
            reader = method.style().returnsStream()
                    ? CodeBlock.of("(in, call) -> $L", value)
                    : CodeBlock.of(
                            "(in, call) -> {\n$>$T result = $L;\nin.expectEnd();\nreturn result;\n$<}", type, value);
        }
        return Sources.constant(
                ParameterizedTypeName.get(RpcNames.RESULT_READER, type), names.constant("READ", method), reader);
    }

    private FieldSpec elementWriter(RpcMethod method, Parameter sent) {
        CodeBlock writer = CodeBlock.of(
                "(out, element) -> $L",
                codec.write(
                        sent.value(),
                        CodeBlock.of("element"),
                        CodeBlock.of("$S", sent.name()),
                        new Place(Side.CLIENT, "out", "call")));
        return Sources.constant(
                ParameterizedTypeName.get(
                        RpcNames.ELEMENT_WRITER, sent.value().type().box()),
                names.constant("SEND", method),
                writer);
    }

    private MethodSpec method(RpcMethod method) {
        NameAllocator locals = new NameAllocator();
        MethodSpec.Builder stub = MethodSpec.methodBuilder(method.name())
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .returns(method.returns())
                .varargs(method.varargs());
        for (Parameter parameter : method.parameters()) {
            stub.addParameter(parameter.type(), locals.newName(parameter.name(), parameter));
        }
        boolean shadowed =
                method.parameters().stream().anyMatch(each -> each.name().equals("calls"));
        Place place = new Place(Side.CLIENT, locals.newName("out"), locals.newName("call"));
        intercept(stub, method, locals, shadowed ? "this.calls" : "calls");
        stub.addStatement(
                        "$T $L = $L.begin($L)",
                        RpcNames.CLIENT_CALL,
                        place.call(),
                        shadowed ? "this.calls" : "calls",
                        names.constant(method))
                .beginControlFlow("try");
        writeArguments(stub, method, locals, place);
        if (method.style().isSynchronous()) {
            invoke(stub, method, locals, place.call());
        } else {
            invokeLater(stub, method, locals, place.call());
        }
        return stub.build();
    }

    /** With interceptors, the method calls itself on a stub without them. */
    private void intercept(MethodSpec.Builder stub, RpcMethod method, NameAllocator locals, String calls) {
        String plain = locals.newName("plain");
        // Qualified, because the interface may have a type of the stub's name.
        CodeBlock again = CodeBlock.of(
                "new $L.$L($L).$L($L)",
                model.generatedName().simpleName(),
                className,
                plain,
                method.name(),
                method.parameters().stream()
                        .map(each -> CodeBlock.of("$L", locals.get(each)))
                        .collect(CodeBlock.joining(", ")));
        stub.beginControlFlow("if ($L.isIntercepted())", calls);
        if (TypeName.VOID.equals(method.returns())) {
            stub.addStatement(
                            "$L.intercept($L, $L -> {\n$>$L;\nreturn null;\n$<})",
                            calls,
                            names.constant(method),
                            plain,
                            again)
                    .addStatement("return");
        } else {
            stub.addStatement("return $L.intercept($L, $L -> $L)", calls, names.constant(method), plain, again);
        }
        stub.endControlFlow();
    }

    private void writeArguments(MethodSpec.Builder stub, RpcMethod method, NameAllocator locals, Place place) {
        if (!method.arguments().isEmpty()) {
            stub.addStatement("$T $L = $L.arguments()", RpcNames.PAYLOAD_WRITER, place.payload(), place.call());
        }
        for (Parameter parameter : method.arguments()) {
            stub.addStatement(codec.write(
                    parameter.value(),
                    CodeBlock.of("$L", locals.get(parameter)),
                    CodeBlock.of("$S", parameter.name()),
                    place));
        }
        method.sent()
                .ifPresent(sent -> stub.addStatement(
                        "$L.sendStream($T.required($L, $S), $L)",
                        place.call(),
                        RpcNames.PAYLOAD_WRITER,
                        locals.get(sent),
                        sent.name(),
                        names.constant("SEND", method)));
    }

    private void invoke(MethodSpec.Builder stub, RpcMethod method, NameAllocator locals, String call) {
        if (method.result().isEmpty()) {
            stub.addStatement("$L.invoke().expectEnd()", call);
        } else {
            String in = locals.newName("in");
            String result = locals.newName("result");
            stub.addStatement("$T $L = $L.invoke()", RpcNames.PAYLOAD_READER, in, call)
                    .addStatement(
                            "$T $L = $L",
                            method.returns(),
                            result,
                            codec.read(method.result().orElseThrow(), RESULT, new Place(Side.CLIENT, in, call)))
                    .addStatement("$L.expectEnd()", in)
                    .addStatement("return $L", result);
        }
        String exception = locals.newName("e");
        stub.nextControlFlow("catch ($T $L)", RpcNames.PAYLOAD_EXCEPTION, exception)
                .addStatement("throw $T.failed($L.rejected($L))", RpcNames.CLIENT_CALL, call, exception)
                .nextControlFlow("catch ($T $L)", RpcNames.RPC_EXCEPTION, exception)
                .addStatement("throw $T.failed($L)", RpcNames.CLIENT_CALL, exception)
                .nextControlFlow("finally")
                .addStatement("$L.close()", call)
                .endControlFlow();
    }

    private void invokeLater(MethodSpec.Builder stub, RpcMethod method, NameAllocator locals, String call) {
        switch (method.style()) {
            case ONE_WAY -> stub.addStatement("$L.invokeOneWay()", call);
            case ASYNC -> stub.addStatement("return $L.invokeAsync($L)", call, names.constant("READ", method));
            default -> stub.addStatement("return $L.invokeStream($L)", call, names.constant("READ", method));
        }
        String exception = locals.newName("t");
        stub.nextControlFlow("catch ($T $L)", Throwable.class, exception)
                .addStatement("throw $T.failed($L.abandon($L))", RpcNames.CLIENT_CALL, call, exception)
                .endControlFlow();
    }
}
