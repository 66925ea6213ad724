/* SPDX-License-Identifier: Apache-2.0 */
/* How the ranks of a communicator find each other: all send their worker address to rank 0, which
 * sends the whole list back. Private to wire.c and bootstrap.c. */
#pragma once

#include "link.h"
#include "wire.h"

/** What a rank says of itself: which host it is on (coll_host_id), then its worker address. */
struct coll_card {
    uint64_t host;
    uint8_t address[];
};

/** The cards of all ranks. */
struct coll_address_book {
    uint32_t ranks;
    uint8_t *bytes;   /**< one after the other */
    uint32_t *offset; /**< ranks + 1 of them */
};
const struct coll_card *coll_address_book_at(const struct coll_address_book *book, uint32_t rank);
/** Equal for processes that share a running system and its network interfaces. */
uint64_t coll_host_id(void);
/** The book as one message; leo_free() it. NULL: no memory. */
void *coll_address_book_pack(const struct coll_address_book *book, size_t *bytes);
void coll_address_book_finish(struct coll_address_book *book);

/** Tag of the message in which rank 0 sends the book, as full_tag in wire.c makes it. */
enum { COLL_TAG_BOOK = 0x7fffffff };

/** Brings all ranks together. `link` is opened here (rank 0: taken from the bootstrap), `book`
 * filled. Always takes the bootstrap. Rank 0 then sends the book (coll_address_book_pack) to the
 * others. */
LEO_MUST_CHECK leo_status coll_bootstrap_join(const struct coll_wire_opts *opts,
                                              struct coll_link *link,
                                              struct coll_address_book *book, char *text,
                                              size_t text_bytes);
