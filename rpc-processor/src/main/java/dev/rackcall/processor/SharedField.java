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
 * @param offset bytes from the start of the record; 0 until it is placed
 */
record SharedField(
        String name,
        FieldType type,
        ExecutableElement getter,
        Optional<ExecutableElement> setter,
        Optional<ExecutableElement> follower,
        int offset) {
    SharedField at(int place) {
        return new SharedField(name, type, getter, setter, follower, place);
    }

    String describe() {
        return name + ":" + type.describe() + "@" + offset;
    }
}
