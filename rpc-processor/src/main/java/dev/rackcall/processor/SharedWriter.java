package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.CodeBlock;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.NameAllocator;
import com.palantir.javapoet.ParameterizedTypeName;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import java.util.Locale;
import javax.lang.model.element.Modifier;

/**
 * Writes the flyweight of one shared interface: offsets as constants, accessors, the type object and its reference
 * fields.
 */
final class SharedWriter {
    private final SharedModel model;
    private final ClassName interfaceName;
    private final ClassName flyweight;
    private final AccessorWriter accessors;
    private final NameAllocator constants = new NameAllocator();

    SharedWriter(SharedModel model) {
        this.model = model;
        this.interfaceName = ClassName.get(model.type());
        this.flyweight = Declarations.flyweight(model.type());
        constants.newName("TYPE");
        for (SharedField field : model.fields()) {
            constants.newName(Sources.constantName(field.name()), field.name());
        }
        this.accessors = new AccessorWriter(model, constants);
    }

    TypeSpec write() {
        TypeSpec.Builder type = Sources.classFor(model.type(), flyweight)
                .addJavadoc(javadoc())
                .addModifiers(Modifier.FINAL)
                .superclass(model.hasVersions() ? SharedNames.VERSIONED_RECORD : SharedNames.SHARED_RECORD)
                .addSuperinterface(interfaceName);
        if (model.type().getModifiers().contains(Modifier.PUBLIC)) {
            type.addModifiers(Modifier.PUBLIC);
        }
        TypeName sharedType = ParameterizedTypeName.get(SharedNames.SHARED_TYPE, interfaceName);
        type.addField(FieldSpec.builder(sharedType, "TYPE", Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
                .addJavadoc("Makes, attaches and moves flyweights of {@link $T}.\n", interfaceName)
                .initializer("new Type()")
                .build());
        for (SharedField field : model.fields()) {
            type.addField(
                    Sources.constant(TypeName.LONG, constants.get(field.name()), CodeBlock.of("$L", field.offset())));
        }
        type.addMethod(MethodSpec.constructorBuilder()
                .addModifiers(Modifier.PRIVATE)
                .addStatement("super(TYPE)")
                .build());
        for (SharedField field : model.fields()) {
            type.addMethods(accessors.of(field));
        }
        if (accessors.hasFieldTypes()) {
            type.addType(accessors.fieldTypes());
        }
        return type.addType(typeClass(sharedType)).build();
    }

    private CodeBlock javadoc() {
        CodeBlock.Builder text = CodeBlock.builder()
                .add("Flyweight of {@link $T}: $L bytes.\n\n<pre>\n", interfaceName, model.bytes())
                .add("offset  field\n     0  header: type $L, bytes\n", Integer.toHexString(model.typeId()));
        for (SharedField field : model.fields()) {
            String words = field.type().describe().replace("->", "to ");
            text.add("$L\n", String.format(Locale.ROOT, "%6d  %s: %s", field.offset(), field.name(), escaped(words)));
        }
        return text.add("</pre>\n").build();
    }

    private TypeSpec typeClass(TypeName sharedType) {
        CodeBlock arguments = CodeBlock.builder()
                .add("super($>$>\n$T.class,\n$S,\n", interfaceName, model.name())
                .add("0x$L,\n0x$LL,\n", Integer.toHexString(model.typeId()), Long.toHexString(model.fingerprint()))
                .add(
                        model.hasVersions()
                                ? CodeBlock.of("new int[] {$L},\n", model.versionBytes())
                                : CodeBlock.of("$L,\n", model.bytes()))
                .add("$L);$<$<\n", Sources.text(model.description()))
                .build();
        MethodSpec.Builder references = MethodSpec.methodBuilder("references")
                .addAnnotation(Override.class)
                .addModifiers(Modifier.PROTECTED)
                .addParameter(SharedNames.REFERENCE_FIELDS, "fields");
        for (SharedField field : model.fields()) {
            accessors.reference(field).ifPresent(references::addStatement);
        }
        return TypeSpec.classBuilder("Type")
                .addModifiers(Modifier.PRIVATE, Modifier.STATIC, Modifier.FINAL)
                .superclass(sharedType)
                .addMethod(MethodSpec.constructorBuilder()
                        .addModifiers(Modifier.PRIVATE)
                        .addCode(arguments)
                        .build())
                .addMethod(MethodSpec.methodBuilder("flyweight")
                        .addAnnotation(Override.class)
                        .addModifiers(Modifier.PUBLIC)
                        .returns(interfaceName)
                        .addStatement("return new $T()", flyweight)
                        .build())
                .addMethod(references.build())
                .build();
    }

    private static String escaped(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
