package dev.rackcall.verbs;

/** An RDMA device of this host, real or in software. Found with {@link Devices}. */
public interface Device {
    /** The argument for {@link Devices#find}: {@code rxe0}, {@code mlx5_0}, {@code soft:a}. */
    String name();

    /**
     * Opens the device. Each call returns a new context.
     *
     * @throws VerbsException if the device is gone or this user may not open it
     */
    Context open();
}
