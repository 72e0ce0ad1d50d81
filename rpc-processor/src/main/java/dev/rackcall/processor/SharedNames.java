package dev.rackcall.processor;

import com.palantir.javapoet.ClassName;

/**
 * The run-time classes that shared interfaces mention and generated flyweights use. The processor knows them by name
 * only.
 */
final class SharedNames {
    static final String PACKAGE = "dev.rackcall.shm.types";
    static final String SHARED = PACKAGE + ".Shared";
    static final String RELEASABLE = PACKAGE + ".Releasable";
    static final String FIXED_STRING = PACKAGE + ".FixedString";
    static final String SINCE = PACKAGE + ".Since";
    static final String INLINE = PACKAGE + ".Inline";
    static final String LENGTH = PACKAGE + ".Length";

    static final ClassName REF = ClassName.get("dev.rackcall.shm", "Ref");
    static final ClassName SHARED_RECORD = shm("SharedRecord");
    static final ClassName VERSIONED_RECORD = shm("VersionedRecord");
    static final ClassName SHARED_TYPE = shm("SharedType");
    static final ClassName REFERENCE_FIELDS = shm("ReferenceFields");
    static final ClassName SHARED_STRING = shm("SharedString");
    static final ClassName SHARED_BYTES = shm("SharedBytes");
    static final ClassName SHARED_ARRAY = shm("SharedArray");
    static final ClassName SHARED_INLINE_ARRAY = shm("SharedInlineArray");
    static final ClassName SHARED_INT_ARRAY = shm("SharedIntArray");
    static final ClassName SHARED_LONG_ARRAY = shm("SharedLongArray");
    static final ClassName SHARED_FLOAT_ARRAY = shm("SharedFloatArray");
    static final ClassName SHARED_DOUBLE_ARRAY = shm("SharedDoubleArray");
    static final ClassName SHARED_LIST = shm("SharedList");
    static final ClassName SHARED_INT_LIST = shm("SharedIntList");
    static final ClassName SHARED_LONG_LIST = shm("SharedLongList");
    static final ClassName SHARED_DOUBLE_LIST = shm("SharedDoubleList");
    static final ClassName SHARED_STRING_MAP = shm("SharedStringMap");
    static final ClassName SHARED_LONG_MAP = shm("SharedLongMap");

    private SharedNames() {}

    private static ClassName shm(String simpleName) {
        return ClassName.get(PACKAGE, simpleName);
    }
}
