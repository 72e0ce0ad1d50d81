package dev.rackcall.processor;

import java.util.Optional;
import javax.lang.model.element.ExecutableElement;

/**
 * One field of a shared record: an accessor pair and a place.
 *
 * @param name the name of getter and setter
 * @param type what it holds
 * @param getter the method that reads it
 * @param setter the method that writes it; none for a field that is changed in place
 * @param follower the method that makes a flyweight refer to the field's target; only for references that may be absent
 * @param since the version of the interface that added it; 1 for those of the first version
 * @param offset bytes from the start of the record; 0 until it is placed
 */
record SharedField(
        String name,
        FieldType type,
        ExecutableElement getter,
        Optional<ExecutableElement> setter,
        Optional<ExecutableElement> follower,
        int since,
        int offset) {
    static final int FIRST_VERSION = 1;

    /** Whether objects of older versions lack it. */
    boolean isAdded() {
        return since > FIRST_VERSION;
    }

    /** Bytes from the start of the record to the end of the field. */
    int end() {
        return offset + type.bytes();
    }

    SharedField at(int place) {
        return new SharedField(name, type, getter, setter, follower, since, place);
    }

    String describe() {
        return name + ":" + type.describe() + "@" + offset;
    }
}
