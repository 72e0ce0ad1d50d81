/* The guard: turns faults inside registered arenas into the JVM's own SIGBUS path, which raises an InternalError in the thread that faulted. Every other
 * fault goes to the JVM's handler unchanged. Runs in signal handlers: no locks, no allocation, no library calls. Built by Guard.java. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

#define VERSION 1
#define RANGES 1024
#define LOCAL static __thread __attribute__((tls_model("initial-exec")))

static struct { _Atomic uintptr_t start, end; } ranges[RANGES];
static _Atomic int used;
static struct sigaction jvm_segv, jvm_bus;
LOCAL uintptr_t last_fault; /* of this thread; 0 for none since the last take */

#if defined(__x86_64__)
#include <cpuid.h>
#define PKRU_FEATURE 9                /* its number among the states that XSAVE keeps (Intel SDM 1, 13.5) */
static _Atomic uint32_t arena_rights; /* the bits of the rights register that belong to arenas' keys */
static uint32_t pkru_offset;
LOCAL int confined; /* whether this thread has arenas closed on purpose */

uint32_t guard_rights(void) {
    uint32_t rights, high;
    __asm__ volatile("rdpkru" : "=a"(rights), "=d"(high) : "c"(0));
    return rights;
}

/* Memory accesses must not move across it, because it controls them. */
static void set_rights(uint32_t rights) { __asm__ volatile("wrpkru" ::"a"(rights), "c"(0), "d"(0) : "memory"); }

/* Closes the keys in `closed`; returns the rights for guard_leave. */
uint32_t guard_enter(uint32_t closed) {
    uint32_t before = guard_rights();
    confined++;
    set_rights((before & ~atomic_load_explicit(&arena_rights, memory_order_relaxed)) | closed);
    return before;
}

void guard_leave(uint32_t before) {
    set_rights(before);
    confined--;
}

/* Reserves these bits for arenas' keys. Returns 0, or -1 if the processor does not say where signals keep the register. */
int guard_keys(uint32_t rights) {
    uint32_t size, offset, c, d;
    if (!__get_cpuid_count(0xd, PKRU_FEATURE, &size, &offset, &c, &d) || size < 4) {
        return -1;
    }
    pkru_offset = offset;
    atomic_store(&arena_rights, rights);
    return 0;
}

/* A new thread has all later keys closed, and no other thread can open them for it. The first access of a thread that is not confined therefore
 * opens them, in the registers that it gets back when the handler returns. */
static int open_for_thread(void *context) {
    char *state = (char *)((ucontext_t *)context)->uc_mcontext.fpregs;
    uint32_t ours = atomic_load_explicit(&arena_rights, memory_order_relaxed);
    uint32_t *software = (uint32_t *)(state + 464), *rights = (uint32_t *)(state + pkru_offset);
    if (confined || ours == 0 || software[0] != 0x46505853u /* FP_XSTATE_MAGIC1 */ || (*rights & ours) == 0) {
        return 0;
    }
    *(uint64_t *)(state + 512) |= 1u << PKRU_FEATURE;
    *rights &= ~ours;
    return 1;
}
#else
static int open_for_thread(void *context) {
    (void)context;
    return 0;
}
#endif

static int registered(uintptr_t address) {
    int count = atomic_load_explicit(&used, memory_order_acquire);
    for (int i = 0; i < count; i++) {
        uintptr_t end = atomic_load_explicit(&ranges[i].end, memory_order_acquire); /* pairs with guard_add, guard_remove */
        if (address < end && address >= atomic_load_explicit(&ranges[i].start, memory_order_relaxed)) {
            return 1;
        }
    }
    return 0;
}

static void pass(const struct sigaction *to, int number, siginfo_t *info, void *context) {
    if (to->sa_flags & SA_SIGINFO) {
        to->sa_sigaction(number, info, context);
    } else if (to->sa_handler == SIG_DFL) {
        signal(number, SIG_DFL); /* on return the fault happens again and ends the process */
    } else if (to->sa_handler != SIG_IGN) {
        to->sa_handler(number);
    }
}

static void on_segv(int number, siginfo_t *info, void *context) {
    int saved = errno;
    int ours = (info->si_code == SEGV_ACCERR || info->si_code == SEGV_PKUERR) && registered((uintptr_t)info->si_addr);
    if (ours && info->si_code == SEGV_PKUERR && open_for_thread(context)) {
        /* tries again */
    } else if (ours) {
        siginfo_t bus = *info;
        bus.si_signo = SIGBUS;
        bus.si_code = BUS_ADRERR;
        last_fault = (uintptr_t)info->si_addr;
        pass(&jvm_bus, SIGBUS, &bus, context);
    } else {
        pass(&jvm_segv, number, info, context);
    }
    errno = saved;
}

static void on_bus(int number, siginfo_t *info, void *context) {
    if (info->si_code > 0 && registered((uintptr_t)info->si_addr)) {
        last_fault = (uintptr_t)info->si_addr;
    }
    pass(&jvm_bus, number, info, context);
}

static int take_over(int number, void (*handler)(int, siginfo_t *, void *), struct sigaction *before) {
    struct sigaction now;
    if (sigaction(number, NULL, before) != 0) {
        return errno;
    }
    now = *before; /* its mask and flags, which the JVM's handler expects */
    now.sa_flags |= SA_SIGINFO;
    now.sa_sigaction = handler;
    return sigaction(number, &now, NULL) != 0 ? errno : 0;
}

int guard_version(void) { return VERSION; }

/* Called once in a process, before anything is registered. Returns errno. */
int guard_install(void) {
    int error = take_over(SIGBUS, on_bus, &jvm_bus);
    return error != 0 ? error : take_over(SIGSEGV, on_segv, &jvm_segv);
}

/* One caller at a time. Returns a handle, or -1 if there are too many. */
int guard_add(uintptr_t start, uintptr_t end) {
    int count = atomic_load(&used);
    for (int i = 0; i < RANGES; i++) {
        if (i == count || atomic_load(&ranges[i].end) == 0) {
            atomic_store_explicit(&ranges[i].start, start, memory_order_relaxed);
            atomic_store_explicit(&ranges[i].end, end, memory_order_release);
            if (i == count) {
                atomic_store_explicit(&used, count + 1, memory_order_release);
            }
            return i;
        }
    }
    return -1;
}

void guard_remove(int handle) { atomic_store_explicit(&ranges[handle].end, 0, memory_order_release); }

/* Returns the address of this thread's last refused access and forgets it. */
uintptr_t guard_take_fault(void) {
    uintptr_t address = last_fault;
    last_fault = 0;
    return address;
}
