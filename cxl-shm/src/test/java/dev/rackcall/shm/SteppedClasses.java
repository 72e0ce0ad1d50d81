package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageTable;
import dev.rackcall.shm.alloc.Steps;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.ConvertInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Set;

/**
 * Loads the classes of arenas and page tables again, with a call of {@code Steps.before} before each access to shared
 * memory and with shorter generations, which repeat soon. A test thereby runs the production code one access at a time,
 * unchanged.
 */
final class SteppedClasses extends ClassLoader {
    private static final Set<String> PACKAGES = Set.of(Arena.class.getPackageName(), PageTable.class.getPackageName());
    private static final ClassDesc STEPS = ClassDesc.of(Steps.class.getName());
    private static final Set<String> SEGMENT_ACCESSES = Set.of("get", "set", "fill", "getAtIndex", "setAtIndex");
    private static final int INT_BITS = 32;
    private static final int GENERATION_MASK = 0xff;
    private static final Set<String> WITH_GENERATIONS = Set.of("PageEntry", "PageRun", "PageRuns", "Ref");

    static {
        registerAsParallelCapable();
    }

    private final int generationBits;
    private final String credulous;
    private final ClassFile classFile;

    /**
     * @param generationBits 1 to 8
     * @param credulous a method, {@code "Class.method"}, that always returns true: a planted bug for the test to find;
     *     empty for none
     */
    SteppedClasses(int generationBits, String credulous) {
        super(SteppedClasses.class.getClassLoader());
        this.generationBits = generationBits;
        this.credulous = credulous;
        this.classFile = ClassFile.of(
                ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(getParent())));
    }

    int generationBits() {
        return generationBits;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!PACKAGES.contains(name.substring(0, name.lastIndexOf('.')))) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] bytes = bytes(name);
        String simple = name.substring(name.lastIndexOf('.') + 1);
        byte[] stepped = simple.equals("Steps") ? bytes : transformed(bytes, simple);
        return defineClass(name, stepped, 0, stepped.length);
    }

    private byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] transformed(byte[] bytes, String name) {
        boolean withGenerations = WITH_GENERATIONS.contains(name);
        CodeTransform steps = (code, element) -> {
            if (element instanceof InvokeInstruction invoke && isAccess(invoke)) {
                code.invokestatic(STEPS, "before", MethodTypeDesc.of(ConstantDescs.CD_void));
            }
            if (!withGenerations || !shorten(code, element)) {
                code.with(element);
            }
        };
        return classFile.transformClass(classFile.parse(bytes), (builder, element) -> {
            if (element instanceof MethodModel method
                    && credulous.equals(name + "." + method.methodName().stringValue())) {
                builder.withMethodBody(
                        method.methodName(),
                        method.methodType(),
                        method.flags().flagsMask(),
                        code -> code.iconst_1().ireturn());
            } else if (element instanceof MethodModel method) {
                builder.transformMethod(method, MethodTransform.transformingCode(steps));
            } else {
                builder.with(element);
            }
        });
    }

    private static boolean isAccess(InvokeInstruction invoke) {
        String owner = invoke.owner().asInternalName();
        String method = invoke.name().stringValue();
        return owner.equals("java/lang/invoke/VarHandle")
                || (owner.equals("java/lang/foreign/MemorySegment") && SEGMENT_ACCESSES.contains(method));
    }

    /** Whether this element refers to eight bits and was replaced. */
    private boolean shorten(CodeBuilder code, CodeElement element) {
        if (element instanceof ConstantInstruction constant
                && constant.constantValue() instanceof Integer value
                && value == GENERATION_MASK) {
            code.loadConstant((1 << generationBits) - 1);
            return true;
        }
        if (element instanceof ConvertInstruction convert && convert.opcode() == Opcode.I2B) {
            code.loadConstant(INT_BITS - generationBits).ishl();
            code.loadConstant(INT_BITS - generationBits).ishr();
            return true;
        }
        return false;
    }
}
