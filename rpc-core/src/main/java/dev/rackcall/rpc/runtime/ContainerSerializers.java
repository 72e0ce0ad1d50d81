package dev.rackcall.rpc.runtime;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import dev.rackcall.shm.codec.PayloadException;
import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Kryo serializers of collections, maps and object arrays that write every element, so that counts can be checked
 * against the remaining bytes. Kryo's own serializers can write a thousand nulls into three bytes.
 */
final class ContainerSerializers {
    private ContainerSerializers() {}

    /** Registers the JDK's containers, in an order that is part of the format. */
    static void register(Kryo kryo) {
        for (Class<?> mutable : List.of(
                ArrayList.class,
                LinkedList.class,
                ArrayDeque.class,
                CopyOnWriteArrayList.class,
                PriorityQueue.class,
                HashSet.class,
                LinkedHashSet.class,
                TreeSet.class)) {
            kryo.register(mutable, new OfCollection());
        }
        for (Class<?> mutable : List.of(HashMap.class, LinkedHashMap.class, TreeMap.class, ConcurrentHashMap.class)) {
            kryo.register(mutable, new OfMap());
        }
        registerImmutable(kryo);
        kryo.register(Object[].class, new OfArray());
        kryo.register(String[].class, new OfArray());
    }

    /** Classes that the JDK hides behind {@code List.of} and the like, so that no annotation can name them. */
    private static void registerImmutable(Kryo kryo) {
        List<Integer> list = List.of(1, 2, 3);
        for (Class<?> hidden : List.of(
                List.of(1).getClass(), list.getClass(), list.subList(0, 2).getClass())) {
            kryo.register(hidden, new OfImmutableList());
        }
        kryo.register(Arrays.asList(1, 2).getClass(), new OfArraysAsList());
        for (Class<?> hidden : List.of(Set.of(1).getClass(), Set.of(1, 2, 3).getClass())) {
            kryo.register(hidden, new OfImmutableSet());
        }
        for (Class<?> hidden :
                List.of(Map.of(1, 1).getClass(), Map.of(1, 1, 2, 2).getClass())) {
            kryo.register(hidden, new OfImmutableMap());
        }
    }

    /** Registers the serializer for a class that the user registered, if there is one here. */
    static boolean register(Kryo kryo, Class<?> type) {
        if (type.isArray() && !type.getComponentType().isPrimitive()) {
            kryo.register(type, new OfArray());
        } else if (Collection.class.isAssignableFrom(type)) {
            kryo.register(type, new OfCollection());
        } else if (Map.class.isAssignableFrom(type)) {
            kryo.register(type, new OfMap());
        } else {
            return false;
        }
        return true;
    }

    private static void writeElements(Kryo kryo, Output output, Object... elements) {
        output.writeVarInt(elements.length, true);
        for (Object element : elements) {
            kryo.writeClassAndObject(output, element);
        }
    }

    private static Object[] readElements(Kryo kryo, Input input) {
        Object[] elements = new Object[((BoundedInput) input).readLength()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = kryo.readClassAndObject(input);
        }
        return elements;
    }

    private static void refuse(Comparator<?> comparator, Object container) {
        if (comparator != null) {
            throw new PayloadException("a " + container.getClass().getName()
                    + " with a comparator cannot travel, because the comparator cannot; send a List and sort it there");
        }
    }

    private static final class OfCollection extends Serializer<Collection<Object>> {
        @Override
        public void write(Kryo kryo, Output output, Collection<Object> collection) {
            if (collection instanceof SortedSet<?> sorted) {
                refuse(sorted.comparator(), sorted);
            } else if (collection instanceof PriorityQueue<?> queue) {
                refuse(queue.comparator(), queue);
            }
            writeElements(kryo, output, collection.toArray());
        }

        @Override
        public Collection<Object> read(Kryo kryo, Input input, Class<? extends Collection<Object>> type) {
            Collection<Object> collection = kryo.newInstance(type);
            kryo.reference(collection);
            int length = ((BoundedInput) input).readLength();
            for (int i = 0; i < length; i++) {
                collection.add(kryo.readClassAndObject(input));
            }
            return collection;
        }
    }

    private static final class OfMap extends Serializer<Map<Object, Object>> {
        @Override
        public void write(Kryo kryo, Output output, Map<Object, Object> map) {
            if (map instanceof SortedMap<?, ?> sorted) {
                refuse(sorted.comparator(), sorted);
            }
            writeEntries(kryo, output, map);
        }

        @Override
        public Map<Object, Object> read(Kryo kryo, Input input, Class<? extends Map<Object, Object>> type) {
            Map<Object, Object> map = kryo.newInstance(type);
            kryo.reference(map);
            readEntries(kryo, input, map);
            return map;
        }
    }

    private static void writeEntries(Kryo kryo, Output output, Map<Object, Object> map) {
        List<Object> entries = new ArrayList<>(2 * map.size());
        map.forEach((key, value) -> {
            entries.add(key);
            entries.add(value);
        });
        writeElements(kryo, output, entries.toArray());
    }

    private static void readEntries(Kryo kryo, Input input, Map<Object, Object> map) {
        int length = ((BoundedInput) input).readLength();
        for (int i = 0; i < length; i += 2) {
            Object key = kryo.readClassAndObject(input);
            map.put(key, kryo.readClassAndObject(input));
        }
    }

    private static final class OfImmutableList extends Serializer<List<Object>> {
        @Override
        public void write(Kryo kryo, Output output, List<Object> list) {
            writeElements(kryo, output, list.toArray());
        }

        @Override
        public List<Object> read(Kryo kryo, Input input, Class<? extends List<Object>> type) {
            return List.of(readElements(kryo, input));
        }
    }

    private static final class OfArraysAsList extends Serializer<List<Object>> {
        @Override
        public void write(Kryo kryo, Output output, List<Object> list) {
            writeElements(kryo, output, list.toArray());
        }

        @Override
        public List<Object> read(Kryo kryo, Input input, Class<? extends List<Object>> type) {
            return Arrays.asList(readElements(kryo, input));
        }
    }

    private static final class OfImmutableSet extends Serializer<Set<Object>> {
        @Override
        public void write(Kryo kryo, Output output, Set<Object> set) {
            writeElements(kryo, output, set.toArray());
        }

        @Override
        public Set<Object> read(Kryo kryo, Input input, Class<? extends Set<Object>> type) {
            return Set.of(readElements(kryo, input));
        }
    }

    private static final class OfImmutableMap extends Serializer<Map<Object, Object>> {
        @Override
        public void write(Kryo kryo, Output output, Map<Object, Object> map) {
            writeEntries(kryo, output, map);
        }

        @Override
        public Map<Object, Object> read(Kryo kryo, Input input, Class<? extends Map<Object, Object>> type) {
            Map<Object, Object> map = new HashMap<>();
            readEntries(kryo, input, map);
            return Map.copyOf(map);
        }
    }

    private static final class OfArray extends Serializer<Object[]> {
        @Override
        public void write(Kryo kryo, Output output, Object[] array) {
            writeElements(kryo, output, array);
        }

        @Override
        public Object[] read(Kryo kryo, Input input, Class<? extends Object[]> type) {
            int length = ((BoundedInput) input).readLength();
            Object[] array = (Object[]) Array.newInstance(type.getComponentType(), length);
            kryo.reference((Object) array);
            for (int i = 0; i < length; i++) {
                array[i] = kryo.readClassAndObject(input);
            }
            return array;
        }
    }
}
