/* SPDX-License-Identifier: Apache-2.0 */
#include "bootstrap.h"

#include "shm_cleanup.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <leo/alloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define ROOT_MAGIC 0x4f45434cu /* "LCEO" */

enum {
    TAG_HELLO = 1,
    MAX_CALLS = 4096,     /* connections a bootstrap takes: ranks, and strangers */
    MAX_CARD = 64 * 1024, /* bytes; worker addresses have some hundred */
};

/* What a rank sends to rank 0; its card follows. */
struct hello {
    uint8_t token[COLL_TOKEN_BYTES];
    uint32_t rank, ranks;
};

/* FNV-1a */
#define HASH_START UINT64_C(0xcbf29ce484222325)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

struct coll_bootstrap {
    struct coll_link link;
    ucp_listener_h listener;
    struct coll_root root;
};

/* ---- where to listen ---- */

static bool is_wanted(const struct ifaddrs *at, const char *interface)
{
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_UP)) {
        return false;
    }
    return interface ? strcmp(at->ifa_name, interface) == 0 : !(at->ifa_flags & IFF_LOOPBACK);
}

static leo_status pick_address(const char *interface, const char *address, struct sockaddr_in *out)
{
    *out = (struct sockaddr_in){.sin_family = AF_INET};
    if (address) {
        return inet_pton(AF_INET, address, &out->sin_addr) == 1 ? LEO_OK : LEO_ERR_INVALID_ARG;
    }
    struct ifaddrs *all;
    if (getifaddrs(&all)) {
        return LEO_ERR_IO;
    }
    bool found = false;
    for (const struct ifaddrs *at = all; at && !found; at = at->ifa_next) {
        if (is_wanted(at, interface)) {
            memcpy(out, at->ifa_addr, sizeof(*out));
            out->sin_port = 0;
            found = true;
        }
    }
    freeifaddrs(all);
    if (!found && interface) {
        return LEO_ERR_NOT_FOUND;
    }
    if (!found) {
        out->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return LEO_OK;
}

/* ---- bootstrap place ---- */

static bool make_room(struct coll_link *link)
{
    if (link->kept_count == MAX_CALLS) {
        return false;
    }
    ucp_ep_h *kept = leo_realloc(link->kept, (link->kept_count + 1) * sizeof(ucp_ep_h));
    link->kept = kept ? kept : link->kept;
    return kept != NULL;
}

// Who does not come, or leaves again, is noticed by the deadline or by its peer endpoint.
static void call_failed(void *arg, ucp_ep_h endpoint, ucs_status_t status)
{
    (void)arg;
    (void)endpoint;
    (void)status;
}

static void take_call(ucp_conn_request_h request, void *arg)
{
    struct coll_bootstrap *bootstrap = arg;
    if (!make_room(&bootstrap->link)) {
        ucp_listener_reject(bootstrap->listener, request);
        return;
    }
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .conn_request = request,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = call_failed},
    };
    ucp_ep_h endpoint;
    if (ucp_ep_create(bootstrap->link.worker, &params, &endpoint) == UCS_OK) {
        bootstrap->link.kept[bootstrap->link.kept_count++] = endpoint;
    }
}

static void set_address(struct coll_root *root, const struct sockaddr_in *address)
{
    root->magic = ROOT_MAGIC;
    root->sockaddr_bytes = sizeof(*address);
    memcpy(root->sockaddr, address, sizeof(*address));
}

static leo_status listen_at(struct coll_bootstrap *bootstrap, const struct sockaddr_in *address)
{
    const ucp_listener_params_t params = {
        .field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
        .sockaddr = {(const struct sockaddr *)address, sizeof(*address)},
        .conn_handler = {.cb = take_call, .arg = bootstrap},
    };
    if (ucp_listener_create(bootstrap->link.worker, &params, &bootstrap->listener) != UCS_OK) {
        bootstrap->listener = NULL;
        return LEO_ERR_IO;
    }
    ucp_listener_attr_t attr = {.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR};
    if (ucp_listener_query(bootstrap->listener, &attr) != UCS_OK) {
        return LEO_ERR_IO;
    }
    struct sockaddr_in bound;
    memcpy(&bound, &attr.sockaddr, sizeof(bound));
    set_address(&bootstrap->root, &bound);
    return LEO_OK;
}

/* A bootstrap that listens; its root has no token yet. */
static leo_status open_bootstrap(const struct sockaddr_in *address, struct coll_bootstrap **out)
{
    *out = NULL;
    struct coll_bootstrap *bootstrap = leo_calloc(1, sizeof(*bootstrap));
    if (!bootstrap) {
        return LEO_ERR_NO_MEMORY;
    }
    leo_status status = coll_link_open(&bootstrap->link);
    if (status == LEO_OK) {
        status = listen_at(bootstrap, address);
    }
    if (status != LEO_OK) {
        coll_bootstrap_destroy(bootstrap);
        return status;
    }
    *out = bootstrap;
    return LEO_OK;
}

leo_status coll_bootstrap_create(const char *interface, const char *address, struct coll_root *root,
                                 struct coll_bootstrap **out)
{
    *out = NULL;
    struct sockaddr_in at;
    leo_status status = pick_address(interface, address, &at);
    if (status != LEO_OK) {
        return status;
    }
    struct coll_bootstrap *bootstrap;
    status = open_bootstrap(&at, &bootstrap);
    if (status != LEO_OK) {
        return status;
    }
    uint8_t *token = bootstrap->root.token;
    if (getrandom(token, COLL_TOKEN_BYTES, 0) != COLL_TOKEN_BYTES) {
        coll_bootstrap_destroy(bootstrap);
        return LEO_ERR_IO;
    }
    *root = bootstrap->root;
    *out = bootstrap;
    return LEO_OK;
}

leo_status coll_root_at(const char *address, uint16_t port, const void *seed, size_t seed_bytes,
                        struct coll_root *root)
{
    struct sockaddr_in at;
    leo_status status = pick_address(NULL, address, &at);
    if (status != LEO_OK) {
        return status;
    }
    at.sin_port = htons(port);
    memset(root, 0, sizeof(*root));
    set_address(root, &at);
    // Not a secret: it tells groups of other tables apart.
    const uint64_t token[] = {hash_bytes(HASH_START, seed, seed_bytes),
                              hash_bytes(~HASH_START, seed, seed_bytes)};
    memcpy(root->token, token, sizeof(root->token));
    return LEO_OK;
}

leo_status coll_bootstrap_open(const struct coll_root *root, struct coll_bootstrap **out)
{
    struct sockaddr_in at;
    // The port is taken again while connections of an earlier group still end. UCX 1.13 reads the
    // options of its connection manager from the environment only.
    (void)setenv("UCX_TCP_CM_REUSEADDR", "y", 0);
    memcpy(&at, root->sockaddr, sizeof(at));
    leo_status status = open_bootstrap(&at, out);
    if (status == LEO_OK) {
        (*out)->root = *root;
    }
    return status;
}

/* Ends the listening; the link stays. */
static void close_door(struct coll_bootstrap *bootstrap)
{
    if (bootstrap->listener) {
        ucp_listener_destroy(bootstrap->listener);
        bootstrap->listener = NULL;
    }
}

void coll_bootstrap_destroy(struct coll_bootstrap *bootstrap)
{
    if (bootstrap) {
        close_door(bootstrap);
        coll_link_close(&bootstrap->link);
        leo_free(bootstrap);
    }
}

void coll_root_text(const struct coll_root *root, char *text, size_t bytes)
{
    struct sockaddr_in address;
    char name[INET_ADDRSTRLEN] = "?";
    memcpy(&address, root->sockaddr, sizeof(address));
    inet_ntop(AF_INET, &address.sin_addr, name, sizeof(name));
    snprintf(text, bytes, "%s:%u", name, ntohs(address.sin_port));
}

/* ---- address book ---- */

const struct coll_card *coll_address_book_at(const struct coll_address_book *book, uint32_t rank)
{
    return (const struct coll_card *)(const void *)(book->bytes + book->offset[rank]);
}

static uint64_t hash_file(uint64_t hash, const char *path)
{
    FILE *file = fopen(path, "r");
    char text[64]; // a UUID
    if (file) {
        hash = hash_bytes(hash, text, fread(text, 1, sizeof(text), file));
    }
    if (file) {
        fclose(file);
    }
    return hash;
}

uint64_t coll_host_id(void)
{
    uint64_t hash = hash_file(HASH_START, "/proc/sys/kernel/random/boot_id");
    struct stat network;
    if (stat("/proc/self/ns/net", &network) == 0) {
        hash = hash_bytes(hash, &network.st_ino, sizeof(network.st_ino));
    }
    return hash;
}

/* This process's card, padded so that the next one is aligned. NULL: no memory, or no address. */
static struct coll_card *make_card(struct coll_link *link, size_t *bytes)
{
    ucp_address_t *address;
    size_t address_bytes;
    if (ucp_worker_get_address(link->worker, &address, &address_bytes) != UCS_OK) {
        return NULL;
    }
    *bytes = (sizeof(struct coll_card) + address_bytes + 7) & ~(size_t)7;
    struct coll_card *card = leo_calloc(1, *bytes);
    if (card) {
        card->host = coll_host_id();
        memcpy(card->address, address, address_bytes);
    }
    ucp_worker_release_address(link->worker, address);
    return card;
}

void coll_address_book_finish(struct coll_address_book *book)
{
    leo_free(book->bytes);
    leo_free(book->offset);
    *book = (struct coll_address_book){0};
}

/* Offsets, then bytes. */
void *coll_address_book_pack(const struct coll_address_book *book, size_t *bytes)
{
    const size_t head = (book->ranks + 1) * sizeof(uint32_t);
    *bytes = head + book->offset[book->ranks];
    uint8_t *message = leo_alloc(*bytes);
    if (message) {
        memcpy(message, book->offset, head);
        memcpy(message + head, book->bytes, *bytes - head);
    }
    return message;
}

static leo_status unpack_book(const uint8_t *message, size_t bytes, uint32_t ranks,
                              struct coll_address_book *book)
{
    const size_t head = (ranks + (size_t)1) * sizeof(uint32_t);
    if (bytes < head) {
        return LEO_ERR_PARSE;
    }
    book->ranks = ranks;
    book->offset = leo_alloc(head);
    book->bytes = leo_alloc(bytes - head + 1);
    if (!book->offset || !book->bytes) {
        return LEO_ERR_NO_MEMORY;
    }
    memcpy(book->offset, message, head);
    memcpy(book->bytes, message + head, bytes - head);
    for (uint32_t i = 0; i < ranks; i++) {
        if (book->offset[i] % 8 || book->offset[i + 1] > bytes - head ||
            book->offset[i] + sizeof(struct coll_card) >= book->offset[i + 1]) {
            return LEO_ERR_PARSE;
        }
    }
    return LEO_OK;
}

/* ---- waiting without endpoints' help ---- */

struct deadline {
    uint64_t at_ms;
    unsigned spins;
};

static bool is_over(struct coll_link *link, struct deadline *deadline)
{
    coll_link_idle(link, &deadline->spins);
    return coll_wire_now_ms() > deadline->at_ms;
}

/* Waits for one request; frees it. */
static leo_status finish(struct coll_link *link, ucs_status_ptr_t request,
                         struct deadline *deadline)
{
    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_IS_ERR(request) ? LEO_ERR_IO : LEO_OK;
    }
    ucs_status_t status;
    leo_status result = LEO_OK;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        if (is_over(link, deadline)) {
            ucp_request_cancel(link->worker, request);
            result = LEO_ERR_TIMEOUT;
            break;
        }
    }
    ucp_request_free(request);
    return result == LEO_OK && status != UCS_OK ? LEO_ERR_IO : result;
}

/* Takes the next message of a kind, whoever sent it. */
static leo_status take_message(struct coll_link *link, uint64_t tag, struct deadline *deadline,
                               uint8_t **message, size_t *bytes)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h found;
    while (!(found = ucp_tag_probe_nb(link->worker, tag, UINT64_MAX, 1, &info))) {
        if (is_over(link, deadline)) {
            return LEO_ERR_TIMEOUT;
        }
    }
    *bytes = info.length;
    *message = leo_alloc(info.length + 1);
    if (!*message) {
        return LEO_ERR_NO_MEMORY;
    }
    const ucp_request_param_t param = {0};
    leo_status status = finish(
        link, ucp_tag_msg_recv_nbx(link->worker, *message, info.length, found, &param), deadline);
    if (status != LEO_OK) {
        leo_free(*message);
        *message = NULL;
    }
    return status;
}

/* ---- rank 0 ---- */

/* Rank 0's list of who came. */
struct guest_list {
    void **card; /* by rank, NULL = not yet */
    uint32_t *bytes;
    uint32_t ranks, missing;
};

static leo_status note_guest(struct guest_list *guests, const struct coll_root *root,
                             const uint8_t *message, size_t bytes, char *text, size_t text_bytes)
{
    struct hello hello;
    if (bytes <= sizeof(hello) + sizeof(struct coll_card) || bytes > sizeof(hello) + MAX_CARD) {
        return LEO_OK; // a stranger
    }
    memcpy(&hello, message, sizeof(hello));
    if (memcmp(hello.token, root->token, sizeof(hello.token)) != 0) {
        return LEO_OK;
    }
    if (hello.ranks != guests->ranks || hello.rank >= guests->ranks) {
        snprintf(text, text_bytes, "rank %u says there are %u ranks, rank 0 says %u", hello.rank,
                 hello.ranks, guests->ranks);
        return LEO_ERR_INVALID_ARG;
    }
    if (guests->card[hello.rank]) {
        snprintf(text, text_bytes, "two processes say they are rank %u", hello.rank);
        return LEO_ERR_INVALID_ARG;
    }
    const uint32_t size = (uint32_t)(bytes - sizeof(hello));
    guests->card[hello.rank] = leo_alloc(size);
    if (!guests->card[hello.rank]) {
        return LEO_ERR_NO_MEMORY;
    }
    memcpy(guests->card[hello.rank], message + sizeof(hello), size);
    guests->bytes[hello.rank] = size;
    guests->missing--;
    return LEO_OK;
}

static leo_status fill_book(const struct guest_list *guests, struct coll_address_book *book)
{
    size_t total = 0;
    for (uint32_t i = 0; i < guests->ranks; i++) {
        total += guests->bytes[i];
    }
    book->ranks = guests->ranks;
    book->offset = leo_calloc(guests->ranks + (size_t)1, sizeof(uint32_t));
    book->bytes = leo_alloc(total);
    if (!book->offset || !book->bytes) {
        return LEO_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < guests->ranks; i++) {
        memcpy(book->bytes + book->offset[i], guests->card[i], guests->bytes[i]);
        book->offset[i + 1] = book->offset[i] + guests->bytes[i];
    }
    return LEO_OK;
}

static void name_missing(const struct guest_list *guests, const struct coll_root *root,
                         unsigned timeout_ms, char *text, size_t text_bytes)
{
    char place[64];
    coll_root_text(root, place, sizeof(place));
    size_t at = (size_t)snprintf(
        text, text_bytes, "after %u s these ranks have not come to %s:", timeout_ms / 1000, place);
    for (uint32_t i = 1; i < guests->ranks && at < text_bytes; i++) {
        if (!guests->card[i]) {
            at += (size_t)snprintf(text + at, text_bytes - at, " %u", i);
        }
    }
}

static leo_status receive_guests(struct coll_bootstrap *bootstrap, struct guest_list *guests,
                                 const struct coll_wire_opts *opts, struct deadline *deadline,
                                 char *text, size_t text_bytes)
{
    leo_status status = LEO_OK;
    while (status == LEO_OK && guests->missing) {
        uint8_t *message = NULL;
        size_t bytes = 0;
        status = take_message(&bootstrap->link, TAG_HELLO, deadline, &message, &bytes);
        if (status == LEO_OK) {
            status = note_guest(guests, &bootstrap->root, message, bytes, text, text_bytes);
        } else if (status == LEO_ERR_TIMEOUT) {
            name_missing(guests, &bootstrap->root, opts->timeout_ms, text, text_bytes);
        }
        leo_free(message);
    }
    return status;
}

static leo_status host_bootstrap(struct coll_bootstrap *bootstrap,
                                 const struct coll_wire_opts *opts, struct coll_address_book *book,
                                 struct deadline *deadline, char *text, size_t text_bytes)
{
    struct guest_list guests = {.ranks = opts->ranks, .missing = opts->ranks - 1};
    guests.card = leo_calloc(opts->ranks, sizeof(*guests.card));
    guests.bytes = leo_calloc(opts->ranks, sizeof(*guests.bytes));
    leo_status status = guests.card && guests.bytes ? LEO_OK : LEO_ERR_NO_MEMORY;
    if (status == LEO_OK) {
        size_t bytes = 0;
        guests.card[0] = make_card(&bootstrap->link, &bytes);
        guests.bytes[0] = (uint32_t)bytes;
        status = guests.card[0] ? LEO_OK : LEO_ERR_NO_MEMORY;
    }
    if (status == LEO_OK) {
        status = receive_guests(bootstrap, &guests, opts, deadline, text, text_bytes);
    }
    if (status == LEO_OK) {
        status = fill_book(&guests, book);
    }
    for (uint32_t i = 0; guests.card && i < opts->ranks; i++) {
        leo_free(guests.card[i]);
    }
    leo_free(guests.card);
    leo_free(guests.bytes);
    return status;
}

/* ---- the other ranks ---- */

static leo_status send_hello(struct coll_link *link, const struct coll_wire_opts *opts,
                             ucp_ep_h endpoint, struct deadline *deadline)
{
    size_t card_bytes;
    struct coll_card *card = make_card(link, &card_bytes);
    uint8_t *message = card ? leo_alloc(sizeof(struct hello) + card_bytes) : NULL;
    leo_status status = LEO_ERR_NO_MEMORY;
    if (message) {
        struct hello hello = {.rank = opts->rank, .ranks = opts->ranks};
        memcpy(hello.token, opts->root.token, sizeof(hello.token));
        memcpy(message, &hello, sizeof(hello));
        memcpy(message + sizeof(hello), card, card_bytes);
        const ucp_request_param_t param = {0};
        status = finish(
            link,
            ucp_tag_send_nbx(endpoint, message, sizeof(hello) + card_bytes, TAG_HELLO, &param),
            deadline);
    }
    leo_free(message);
    leo_free(card);
    return status;
}

/* Calls at the bootstrap place once and leaves this rank's card. */
static leo_status call_at(struct coll_link *link, const struct coll_wire_opts *opts,
                          struct deadline *deadline)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
        .sockaddr = {(const struct sockaddr *)opts->root.sockaddr, opts->root.sockaddr_bytes},
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = call_failed},
    };
    ucp_ep_h endpoint;
    if (!make_room(link)) {
        return LEO_ERR_NO_MEMORY;
    }
    if (ucp_ep_create(link->worker, &params, &endpoint) != UCS_OK) {
        return LEO_ERR_IO;
    }
    leo_status status = send_hello(link, opts, endpoint, deadline);
    if (status == LEO_OK) {
        link->kept[link->kept_count++] = endpoint;
    } else {
        coll_link_close_endpoint(link, endpoint, true);
    }
    return status;
}

static leo_status visit_bootstrap(struct coll_link *link, const struct coll_wire_opts *opts,
                                  struct coll_address_book *book, struct deadline *deadline)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    leo_status status = call_at(link, opts, deadline);
    while (status == LEO_ERR_IO && opts->is_known) {
        // Nobody listens there yet.
        if (is_over(link, deadline)) {
            status = LEO_ERR_TIMEOUT;
            break;
        }
        nanosleep(&pause, NULL);
        status = call_at(link, opts, deadline);
    }
    uint8_t *message = NULL;
    size_t bytes = 0;
    if (status == LEO_OK) {
        status = take_message(link, (uint64_t)COLL_TAG_BOOK << 32, deadline, &message, &bytes);
    }
    if (status == LEO_OK) {
        status = unpack_book(message, bytes, opts->ranks, book);
    }
    leo_free(message);
    return status;
}

leo_status coll_bootstrap_join(const struct coll_wire_opts *opts, struct coll_link *link,
                               struct coll_address_book *book, char *text, size_t text_bytes)
{
    struct deadline deadline = {.at_ms = coll_wire_now_ms() + opts->timeout_ms};
    char place[64];
    coll_root_text(&opts->root, place, sizeof(place));
    snprintf(text, text_bytes, "cannot meet the other ranks at %s", place);
    leo_status status;
    if (opts->bootstrap) {
        status = host_bootstrap(opts->bootstrap, opts, book, &deadline, text, text_bytes);
        close_door(opts->bootstrap);
        *link = opts->bootstrap->link;
        leo_free(opts->bootstrap);
    } else {
        status = opts->root.magic == ROOT_MAGIC ? coll_link_open(link) : LEO_ERR_INVALID_ARG;
        if (status == LEO_OK) {
            status = visit_bootstrap(link, opts, book, &deadline);
        }
        if (status == LEO_ERR_TIMEOUT) {
            snprintf(text, text_bytes, "rank 0 at %s did not call the ranks together within %u s",
                     place, opts->timeout_ms / 1000);
        }
    }
    if (status != LEO_OK) {
        coll_shm_cleanup(); // who did not come may have been killed on the way
    }
    return status;
}
