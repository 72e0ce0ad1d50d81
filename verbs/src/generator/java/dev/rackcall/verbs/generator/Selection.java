package dev.rackcall.verbs.generator;

import java.util.List;
import java.util.Map;

/** What is bound. */
final class Selection {
    static final List<String> STRUCTS = List.of(
            "ibv_device_attr",
            "ibv_port_attr",
            "ibv_gid",
            "ibv_context",
            "ibv_context_ops",
            "ibv_mr",
            "ibv_comp_channel",
            "ibv_cq",
            "ibv_qp",
            "ibv_qp_init_attr",
            "ibv_qp_attr",
            "ibv_srq_init_attr",
            "ibv_ah_attr",
            "ibv_sge",
            "ibv_send_wr",
            "ibv_recv_wr",
            "ibv_wc",
            "ibv_grh",
            "ibv_async_event",
            "rdma_event_channel",
            "rdma_cm_id",
            "rdma_cm_event",
            "rdma_conn_param",
            "rdma_addrinfo",
            "pollfd");

    static final List<String> ENUMERATIONS = List.of(
            "ibv_access_flags",
            "ibv_atomic_cap",
            "ibv_event_type",
            "ibv_mtu",
            "ibv_port_state",
            "ibv_qp_attr_mask",
            "ibv_qp_state",
            "ibv_qp_type",
            "ibv_send_flags",
            "ibv_wc_flags",
            "ibv_wc_opcode",
            "ibv_wc_status",
            "ibv_wr_opcode",
            "rdma_cm_event_type",
            "rdma_port_space");

    /** Macros with integer values. */
    static final List<String> MACROS = List.of("RAI_PASSIVE", "RAI_NUMERICHOST", "POLLIN", "POLLERR", "POLLHUP");

    /** Enumerators of enumerations without a name. */
    static final List<String> CONSTANTS = List.of("IBV_LINK_LAYER_INFINIBAND", "IBV_LINK_LAYER_ETHERNET");

    /** Functions of each library, by the class that binds it. */
    static final Map<String, List<String>> FUNCTIONS = Map.of(
            "Libibverbs",
            List.of(
                    "ibv_get_device_list",
                    "ibv_free_device_list",
                    "ibv_get_device_name",
                    "ibv_open_device",
                    "ibv_close_device",
                    "ibv_query_device",
                    "ibv_query_port",
                    "ibv_query_gid",
                    "ibv_alloc_pd",
                    "ibv_dealloc_pd",
                    "ibv_reg_mr",
                    "ibv_dereg_mr",
                    "ibv_create_comp_channel",
                    "ibv_destroy_comp_channel",
                    "ibv_create_cq",
                    "ibv_destroy_cq",
                    "ibv_get_cq_event",
                    "ibv_ack_cq_events",
                    "ibv_create_qp",
                    "ibv_modify_qp",
                    "ibv_query_qp",
                    "ibv_destroy_qp",
                    "ibv_create_srq",
                    "ibv_destroy_srq",
                    "ibv_create_ah",
                    "ibv_destroy_ah",
                    "ibv_get_async_event",
                    "ibv_ack_async_event",
                    "ibv_fork_init"),
            "Librdmacm",
            List.of(
                    "rdma_create_event_channel",
                    "rdma_destroy_event_channel",
                    "rdma_create_id",
                    "rdma_destroy_id",
                    "rdma_bind_addr",
                    "rdma_listen",
                    "rdma_resolve_addr",
                    "rdma_resolve_route",
                    "rdma_connect",
                    "rdma_accept",
                    "rdma_reject",
                    "rdma_disconnect",
                    "rdma_create_qp",
                    "rdma_destroy_qp",
                    "rdma_get_cm_event",
                    "rdma_ack_cm_event",
                    "rdma_getaddrinfo",
                    "rdma_freeaddrinfo"),
            "Libc",
            List.of("poll"));

    static final Map<String, String> LIBRARIES = Map.of("Libibverbs", "IBVERBS", "Librdmacm", "RDMACM", "Libc", "C");

    /** Functions that verbs.h has inline and that the provider reaches through the context's table. */
    static final List<String> OPERATIONS =
            List.of("poll_cq", "req_notify_cq", "post_send", "post_recv", "post_srq_recv");

    private Selection() {}
}
