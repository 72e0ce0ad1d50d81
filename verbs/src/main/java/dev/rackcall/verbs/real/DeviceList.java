package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of ibv_get_device_list(3).
 *
 * @param names names of the devices, possibly none
 * @param errno why there are no names; ENODEV if the list is empty
 */
record DeviceList(List<String> names, int errno) {
    private static final int MAX_NAME_BYTES = 64;

    static DeviceList read() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            long list = Libibverbs.ibvGetDeviceList(count.address());
            if (list == 0) {
                return new DeviceList(List.of(), CapturedErrno.errno());
            }
            try {
                List<String> names = new ArrayList<>();
                for (long pointer : pointers(list, count.get(JAVA_INT, 0))) {
                    names.add(name(pointer));
                }
                return new DeviceList(names, VerbsErrno.ENODEV);
            } finally {
                Libibverbs.ibvFreeDeviceList(list);
            }
        }
    }

    /** Opens the device of this name; returns its struct ibv_context. */
    static long open(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            String what = "opening RDMA device " + name;
            long list = Verb.pointer(Libibverbs.ibvGetDeviceList(count.address()), what);
            try {
                for (long pointer : pointers(list, count.get(JAVA_INT, 0))) {
                    if (name(pointer).equals(name)) {
                        return Verb.pointer(Libibverbs.ibvOpenDevice(pointer), what);
                    }
                }
                throw new VerbsException(what, VerbsErrno.ENODEV, "it is gone; list the devices again");
            } finally {
                Libibverbs.ibvFreeDeviceList(list);
            }
        }
    }

    private static long[] pointers(long list, int count) {
        return MemorySegment.ofAddress(list)
                .reinterpret(count * ADDRESS.byteSize())
                .toArray(JAVA_LONG);
    }

    private static String name(long device) {
        long name = Libibverbs.ibvGetDeviceName(device);
        return MemorySegment.ofAddress(name).reinterpret(MAX_NAME_BYTES).getString(0);
    }
}
