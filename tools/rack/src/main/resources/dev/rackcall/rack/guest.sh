# Runs in a guest once it has a root: network, RDMA device, the shared memory's device; then the program with its steps.
# The machine writes /rack/share/guest.conf (shell words): JAVA_FLAGS, CLASS_PATH, STEPS_A, STEPS_B, STEPS_C.
. /rack/share/guest.conf

for word in $(cat /proc/cmdline); do
    case $word in
        rackcall.guest=*) guest=${word#*=} ;;
        rackcall.address=*) address=${word#*=} ;;
        rackcall.dax=*) dax=${word#*=} ;;
    esac
done

fail() {
    echo "RACKCALL down: $1"
    exit 1
}

# Waits 10 s at most for a file that the kernel makes in its own time.
await() {
    for _ in $(seq 100); do
        [[ -e $1 ]] && return
        sleep 0.1
    done
    fail "there is no $1 after 10 s"
}

ulimit -l unlimited
ip link set lo up
interface=$(basename "$(readlink -f /sys/bus/virtio/drivers/virtio_net/virtio*/net/*)")
ip link set "$interface" mtu 4200 up && ip addr add "$address/24" dev "$interface" || fail "no network"
rdma link add rxe0 type rxe netdev "$interface" || fail "the kernel makes no rxe device"
await /dev/infiniband/uverbs0
[[ $dax == none ]] || await "$dax"
# GID 1 is the IPv4 one, which peers use; it comes with the address.
await /sys/class/infiniband/rxe0/ports/1/gids/1
echo "RACKCALL up"

steps=STEPS_$guest
exec /rack/jdk/bin/java $JAVA_FLAGS -cp "$CLASS_PATH" dev.rackcall.rack.guest.GuestMain "$guest" "${!steps}"
