package dev.rackcall.processor;

import com.palantir.javapoet.ArrayTypeName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import dev.rackcall.processor.FieldType.Reference.Absence;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.TypeElement;
import javax.lang.model.type.TypeKind;

/** Writes getters and setters, and the constants that they need. */
final class AccessorWriter {
    private static final String FIELD_TYPES = "Fields";

    private final SharedModel model;
    private final NameAllocator constants;
    private final List<FieldSpec> fieldTypes = new ArrayList<>();

    AccessorWriter(SharedModel model, NameAllocator constants) {
        this.model = model;
        this.constants = constants;
    }

    List<MethodSpec> of(SharedField field) {
        List<MethodSpec> methods = new ArrayList<>();
        String accessor = accessor(field.type());
        CodeBlock read = CodeBlock.of("get$L($L)", accessor, readArguments(field));
        MethodSpec.Builder getter = method(field, field.getter())
                .returns(TypeName.get(field.getter().getReturnType()));
        if (field.isAdded()) {
            getter.beginControlFlow("if (!hasField($L))", field.end())
                    .addStatement(absent(field))
                    .endControlFlow();
        }
        methods.add(getter.addStatement("return $L", read).build());
        field.setter().ifPresent(setter -> methods.add(setter(field, setter, accessor)));
        field.follower().ifPresent(follower -> methods.add(follower(field, follower)));
        return methods;
    }

    private MethodSpec follower(SharedField field, ExecutableElement follower) {
        FieldType.Reference reference = (FieldType.Reference) field.type();
        CodeBlock present = field.isAdded() ? CodeBlock.of("hasField($L) && ", field.end()) : CodeBlock.of("");
        return method(field, follower)
                .returns(TypeName.BOOLEAN)
                .addParameter(TypeName.get(reference.declared()), "into")
                .addStatement(
                        "return $Lfollow($L, $L, into)",
                        present,
                        constants.get(field.name()),
                        type(field, reference.target()))
                .build();
    }

    /** Returns what the getter of a new object returns, for an object of an older version. */
    private CodeBlock absent(SharedField field) {
        return switch (field.type()) {
            case FieldType.Primitive primitive ->
                primitive.kind() == TypeKind.BOOLEAN ? CodeBlock.of("return false") : CodeBlock.of("return 0");
            case FieldType.Constant constant -> CodeBlock.of("return $L[0]", constants(field, constant));
            case FieldType.FixedText text -> CodeBlock.of("return \"\"");
            case FieldType.Value value -> {
                if (value.optional()) {
                    yield CodeBlock.of("return $T.empty()", Optional.class);
                }
                yield value.target().java().equals(SharedNames.SHARED_STRING)
                        ? CodeBlock.of("return \"\"")
                        : CodeBlock.of("return new byte[0]");
            }
            case FieldType.Reference reference ->
                switch (reference.absence()) {
                    case THROWS -> CodeBlock.of("throw nullReference($S)", nameForMessages(field));
                    case OPTIONAL -> CodeBlock.of("return $T.empty()", Optional.class);
                    case REF -> CodeBlock.of("return new $T<>($T.NULL)", SharedNames.REF, SharedNames.REF);
                };
            // Refused by SharedInterfaceReader.
            case FieldType.Embedded embedded -> throw new IllegalStateException(field.name());
            case FieldType.FixedArray array -> throw new IllegalStateException(field.name());
        };
    }

    private MethodSpec setter(SharedField field, ExecutableElement setter, String accessor) {
        TypeName valueType = TypeName.get(setter.getParameters().get(0).asType());
        MethodSpec.Builder method = method(field, setter)
                .returns(TypeName.get(setter.getReturnType()))
                .addParameter(valueType, "value");
        if (field.isAdded()) {
            method.addStatement("requireField($L, $S)", field.end(), nameForMessages(field));
        }
        method.addStatement("put$L($L, value)", accessor, writeArguments(field));
        if (setter.getReturnType().getKind() != TypeKind.VOID) {
            method.addStatement("return this");
        }
        return method.build();
    }

    private static MethodSpec.Builder method(SharedField field, ExecutableElement overridden) {
        MethodSpec.Builder method = MethodSpec.methodBuilder(field.name())
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PUBLIC);
        if (Declarations.has(overridden, Deprecated.class.getName())) {
            method.addAnnotation(Deprecated.class);
        }
        return method;
    }

    /** The suffix of the base class's get and put methods. */
    private static String accessor(FieldType type) {
        return switch (type) {
            case FieldType.Primitive primitive -> primitive.accessor();
            case FieldType.Constant constant -> "Enum";
            case FieldType.FixedText text -> "FixedString";
            case FieldType.Value value ->
                (value.optional() ? "Optional" : "")
                        + (value.target().java().equals(SharedNames.SHARED_STRING) ? "String" : "Bytes");
            case FieldType.Reference reference ->
                switch (reference.absence()) {
                    case THROWS -> "Reference";
                    case OPTIONAL -> "Optional";
                    case REF -> "Ref";
                };
            case FieldType.Embedded embedded -> "Embedded";
            case FieldType.FixedArray array -> "FixedArray";
        };
    }

    /** The offset, the target, and the field's name if a message may need it. */
    private CodeBlock readArguments(SharedField field) {
        String offset = constants.get(field.name());
        String name = nameForMessages(field);
        return switch (field.type()) {
            case FieldType.Primitive primitive -> CodeBlock.of("$L", offset);
            case FieldType.Constant constant -> CodeBlock.of("$L, $L, $S", offset, constants(field, constant), name);
            case FieldType.FixedText text -> CodeBlock.of("$L, $L, $S", offset, text.capacity(), name);
            case FieldType.Value value -> CodeBlock.of("$L", offset);
            case FieldType.Reference reference ->
                reference.absence() == Absence.REF
                        ? CodeBlock.of("$L", offset)
                        : CodeBlock.of("$L, $L, $S", offset, type(field, reference.target()), name);
            case FieldType.Embedded embedded -> CodeBlock.of("$L, $L", offset, flyweightType(embedded));
            case FieldType.FixedArray array ->
                CodeBlock.of("$L, $L, $L", offset, array.length(), type(field, array.array()));
        };
    }

    private CodeBlock writeArguments(SharedField field) {
        String offset = constants.get(field.name());
        String name = nameForMessages(field);
        return switch (field.type()) {
            case FieldType.Constant constant -> CodeBlock.of("$L, $S", offset, name);
            case FieldType.Value value -> CodeBlock.of("$L, $S", offset, name);
            case FieldType.Reference reference
            when reference.absence() == Absence.REF -> CodeBlock.of("$L, $S", offset, name);
            default -> readArguments(field);
        };
    }

    private String nameForMessages(SharedField field) {
        return model.type().getSimpleName() + "." + field.name();
    }

    /** The type object's statement about a field that holds references. */
    Optional<CodeBlock> reference(SharedField field) {
        String offset = constants.get(field.name());
        return switch (field.type()) {
            case FieldType.Leading leading ->
                Optional.of(CodeBlock.of("fields.reference($L, $L)", offset, type(field, leading.target())));
            case FieldType.Embedded embedded ->
                Optional.of(CodeBlock.of("fields.embedded($L, $L)", offset, flyweightType(embedded)));
            case FieldType.FixedArray array ->
                array.array().composite()
                        ? Optional.of(CodeBlock.of(
                                "fields.array($L, $L, $L)", offset, array.length(), type(field, array.array())))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    boolean hasFieldTypes() {
        return !fieldTypes.isEmpty();
    }

    /**
     * The types of fields are in a class of their own, which no static initializer touches. Types may refer to each
     * other in cycles, and two threads that initialise two of them must not deadlock.
     */
    TypeSpec fieldTypes() {
        return TypeSpec.classBuilder(FIELD_TYPES)
                .addJavadoc("Resolved at first use, so that types may refer to each other in cycles.\n")
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .addFields(fieldTypes)
                .build();
    }

    private CodeBlock constants(SharedField field, FieldType.Constant constant) {
        TypeName type = TypeName.get(constant.type().asType());
        return fieldType(field, ArrayTypeName.of(type), CodeBlock.of("$T.values()", type));
    }

    private CodeBlock type(SharedField field, Target target) {
        if (!target.composite()) {
            return target.type();
        }
        TypeName type = ParameterizedTypeName.get(SharedNames.SHARED_TYPE, target.java());
        return fieldType(field, type, target.type());
    }

    private CodeBlock fieldType(SharedField field, TypeName type, CodeBlock initializer) {
        String name = constants.get(field.name());
        if (fieldTypes.stream().noneMatch(spec -> spec.name().equals(name))) {
            fieldTypes.add(FieldSpec.builder(type, name, Modifier.STATIC, Modifier.FINAL)
                    .initializer(initializer)
                    .build());
        }
        return CodeBlock.of("$L.$L", FIELD_TYPES, name);
    }

    private static CodeBlock flyweightType(FieldType.Embedded embedded) {
        TypeElement type = embedded.model().type();
        return CodeBlock.of("$T.TYPE", Declarations.flyweight(type));
    }
}
