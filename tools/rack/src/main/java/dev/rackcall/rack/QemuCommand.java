package dev.rackcall.rack;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Command lines of QEMU.
 *
 * <p>Each guest has one processor and could have two: without a possible second one, QEMU compiles a guest's atomic
 * operations to plain loads and stores, and two guests on one memory lose updates. With two running, the guest's kernel
 * is several times slower, because flushing the other processor's TLB is expensive under emulation.
 *
 * @param program QEMU
 * @param kernel the kernel's ELF file
 * @param initramfs as {@code prepare.sh} packs it
 * @param share folder with the programs that guests run
 * @param jdk the JDK's folder
 * @param run folder for sockets, and for the files by which guests wait for each other; a short path
 * @param ticks of the time-stamp counter in a millisecond
 * @param seconds after which a guest switches itself off in any case
 */
record QemuCommand(Path program, Path kernel, Path initramfs, Path share, Path jdk, Path run, long ticks, int seconds) {
    private static final int MEGABYTES = 1536;
    /** Fits the largest RDMA packet; the card reports it to the guest. */
    private static final int MTU = 4200;

    private static final String KERNEL_LINE =
            "console=ttyS0 panic=-1 quiet mitigations=off nokaslr no_timer_check tsc=reliable"
                    + " nowatchdog rcupdate.rcu_cpu_stall_suppress=1";

    /** The folder that all guests see and may write. */
    Path sync() {
        return run.resolve("sync");
    }

    /**
     * The cable between the guests: a QEMU without a machine, which outlives any guest.
     */
    List<String> hub(List<GuestSpec> guests) {
        List<String> command = new ArrayList<>(
                List.of(HostTools.program("timeout").toString(), "--signal=KILL", Integer.toString(seconds + 30)));
        command.add(program.toString());
        add(command, "-name rackcall-hub -M none -nodefaults -display none");
        for (GuestSpec guest : guests) {
            String name = guest.name();
            add(command, "-netdev stream,id=s" + name + ",server=on,addr.type=unix,addr.path=", guest.socket(run));
            add(command, "-netdev hubport,id=h" + name + ",hubid=0,netdev=s" + name);
        }
        return command;
    }

    List<String> guest(GuestSpec guest) {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        boolean shares = guest.dax().isPresent();
        add(command, "-name rackcall-" + guest.name() + " -M " + (shares ? "q35,nvdimm=on" : "q35"));
        add(command, "-m " + MEGABYTES + (shares ? ",slots=2,maxmem=8G" : ""));
        add(command, "-accel tcg,thread=multi -cpu max -smp 1,maxcpus=2 -nodefaults -no-user-config -no-reboot");
        add(command, "-display none -serial stdio -kernel ", kernel);
        add(command, "-initrd ", initramfs);
        command.addAll(List.of("-append", kernelLine(guest)));
        addFolder(command, "host", Path.of("/"), true);
        addFolder(command, "share", share, true);
        addFolder(command, "jdk", jdk, true);
        addFolder(command, "sync", sync(), false);
        add(command, "-netdev stream,id=net,server=off,addr.type=unix,addr.path=", guest.socket(run));
        add(
                command,
                "-device virtio-net-pci,netdev=net,romfile=,mac=52:54:00:00:00:0" + guest.number() + ",host_mtu="
                        + MTU);
        add(command, "-device virtio-rng-pci");
        guest.dax().ifPresent(dax -> {
            add(
                    command,
                    "-object memory-backend-file,id=shared,share=on,align=2M,size=" + dax.bytes() + ",mem-path=",
                    dax.path());
            add(command, "-device nvdimm,memdev=shared");
        });
        return command;
    }

    private String kernelLine(GuestSpec guest) {
        return KERNEL_LINE + " tsc_early_khz=" + ticks + " rackcall.guest=" + guest.name() + " rackcall.address="
                + guest.address()
                + " rackcall.dax=" + (guest.dax().isPresent() ? DaxFile.DEVICE : "none") + " rackcall.seconds="
                + seconds;
    }

    private static void addFolder(List<String> command, String tag, Path folder, boolean readOnly) {
        // Folders on several file systems have inode numbers in common.
        String access = readOnly ? ",readonly=on" : "";
        add(command, "-fsdev local,id=" + tag + ",security_model=none,multidevs=remap,path=", folder + access);
        add(command, "-device virtio-9p-pci,fsdev=" + tag + ",mount_tag=" + tag);
    }

    private static void add(List<String> command, String words) {
        command.addAll(List.of(words.split(" ", -1)));
    }

    /** As {@link #add(List, String)}, with a path at the end of the last word, which may contain spaces. */
    private static void add(List<String> command, String words, Object path) {
        List<String> all = new ArrayList<>(List.of(words.split(" ", -1)));
        all.add(all.removeLast() + path);
        command.addAll(all);
    }
}
