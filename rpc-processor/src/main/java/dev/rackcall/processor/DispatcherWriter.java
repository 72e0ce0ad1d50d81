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
import java.util.List;
import javax.lang.model.element.Modifier;

/** Writes the class that decodes requests, calls the service and encodes its results. */
final class DispatcherWriter {
    private final ServiceModel model;
    private final MethodNames names;
    private final CodecWriter codec;

    DispatcherWriter(ServiceModel model, MethodNames names, CodecWriter codec) {
        this.model = model;
        this.names = names;
        this.codec = codec;
    }

    TypeSpec write(String className) {
        TypeSpec.Builder dispatcher = TypeSpec.classBuilder(className)
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .addSuperinterface(RpcNames.DISPATCHER);
        for (RpcMethod method : model.methods()) {
            if (method.style() == Style.ASYNC || method.style().returnsStream()) {
                dispatcher.addField(writer(method));
            }
            method.sent().ifPresent(sent -> dispatcher.addField(elementReader(method, sent)));
        }
        dispatcher
                .addField(model.name(), "service", Modifier.PRIVATE, Modifier.FINAL)
                .addMethod(MethodSpec.constructorBuilder()
                        .addParameter(model.name(), "service")
                        .addStatement("this.service = service")
                        .build())
                .addMethod(dispatch());
        model.methods().forEach(method -> dispatcher.addMethod(serve(method)));
        return dispatcher.build();
    }

    private FieldSpec writer(RpcMethod method) {
        TypeName type = method.result().map(value -> value.type().box()).orElse(ClassName.get(Void.class));
        CodeBlock writer = method.result()
                .map(result -> CodeBlock.of(
                        "(out, call, value) -> $L",
                        codec.write(
                                result,
                                CodeBlock.of("value"),
                                StubWriter.RESULT,
                                new Place(Side.SERVER, "out", "call"))))
                .orElse(CodeBlock.of("(out, call, value) -> {}"));
        return Sources.constant(
                ParameterizedTypeName.get(RpcNames.RESULT_WRITER, type), names.constant("WRITE", method), writer);
    }

    private FieldSpec elementReader(RpcMethod method, Parameter sent) {
        CodeBlock reader = CodeBlock.of(
                "in -> $L",
                codec.read(sent.value(), CodeBlock.of("$S", sent.name()), new Place(Side.SERVER, "in", "call")));
        return Sources.constant(
                ParameterizedTypeName.get(
                        RpcNames.ELEMENT_READER, sent.value().type().box()),
                names.constant("RECEIVE", method),
                reader);
    }

    private MethodSpec dispatch() {
        MethodSpec.Builder dispatch = MethodSpec.methodBuilder("dispatch")
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC)
                .addParameter(TypeName.INT, "method")
                .addParameter(RpcNames.SERVER_CALL, "call")
                .beginControlFlow("switch (method)");
        List<RpcMethod> methods = model.methods();
        for (int i = 0; i < methods.size(); i++) {
            dispatch.addStatement("case $L -> $L(call)", i, names.serve(methods.get(i)));
        }
        return dispatch.addStatement(
                        "default -> throw new $T($S + method)",
                        IllegalArgumentException.class,
                        model.channel() + " has " + methods.size() + " methods, and none has index ")
                .endControlFlow()
                .build();
    }

    private MethodSpec serve(RpcMethod method) {
        NameAllocator locals = new NameAllocator();
        method.parameters().forEach(parameter -> locals.newName(parameter.name(), parameter));
        Place place = new Place(Side.SERVER, locals.newName("in"), locals.newName("call"));
        MethodSpec.Builder serve = MethodSpec.methodBuilder(names.serve(method))
                .addModifiers(Modifier.PRIVATE)
                .addParameter(RpcNames.SERVER_CALL, place.call());
        readArguments(serve, method, locals, place);
        boolean shadowed =
                method.parameters().stream().anyMatch(each -> each.name().equals("service"));
        CodeBlock invocation = CodeBlock.of(
                "$L.$L($L)",
                shadowed ? "this.service" : "service",
                method.name(),
                method.parameters().stream()
                        .map(parameter -> CodeBlock.of("$L", locals.get(parameter)))
                        .collect(CodeBlock.joining(", ")));
        switch (method.style()) {
            case ASYNC ->
                serve.addStatement(
                        "$L.completeWith($L, $L)", place.call(), invocation, names.constant("WRITE", method));
            case SERVER_STREAM, BIDI_STREAM ->
                serve.addStatement("$L.streamFrom($L, $L)", place.call(), invocation, names.constant("WRITE", method));
            default -> answer(serve, method, locals, place, invocation);
        }
        return serve.build();
    }

    private void readArguments(MethodSpec.Builder serve, RpcMethod method, NameAllocator locals, Place place) {
        if (method.arguments().isEmpty()) {
            serve.addStatement("$L.arguments().expectEnd()", place.call());
            receive(serve, method, locals, place);
            return;
        }
        serve.addStatement("$T $L = $L.arguments()", RpcNames.PAYLOAD_READER, place.payload(), place.call());
        for (Parameter parameter : method.arguments()) {
            serve.addStatement(
                    "$T $L = $L",
                    parameter.type(),
                    locals.get(parameter),
                    codec.read(parameter.value(), CodeBlock.of("$S", parameter.name()), place));
        }
        serve.addStatement("$L.expectEnd()", place.payload());
        receive(serve, method, locals, place);
    }

    private void receive(MethodSpec.Builder serve, RpcMethod method, NameAllocator locals, Place place) {
        method.sent()
                .ifPresent(sent -> serve.addStatement(
                        "$T $L = $L.receiveStream($L)",
                        sent.type(),
                        locals.get(sent),
                        place.call(),
                        names.constant("RECEIVE", method)));
    }

    private void answer(
            MethodSpec.Builder serve, RpcMethod method, NameAllocator locals, Place place, CodeBlock invocation) {
        if (method.result().isEmpty()) {
            serve.addStatement(invocation);
            return;
        }
        String result = locals.newName("result");
        String out = locals.newName("out");
        serve.addStatement("$T $L = $L", method.returns(), result, invocation)
                .addStatement("$T $L = $L.result()", RpcNames.PAYLOAD_WRITER, out, place.call())
                .addStatement(codec.write(
                        method.result().orElseThrow(),
                        CodeBlock.of("$L", result),
                        StubWriter.RESULT,
                        new Place(Side.SERVER, out, place.call())));
    }
}
