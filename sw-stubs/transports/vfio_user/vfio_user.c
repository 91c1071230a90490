/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "sw-stubs/transports/vfio_user/vfio_user.h"

#include <errno.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "sw-stubs/transports/vfio_user/protocol.h"

enum { PAGE = 4096, REGIONS = 9, DEFAULT_TIMEOUT_MS = 5000, MAX_ERRNO = 4095 };

struct region {
    trn_vfio_user_region info;
    uint64_t fd_offset;
    int fd;
    int known;
};

struct trn_vfio_user {
    int socket;
    uint16_t last_id;
    uint32_t timeout_ms;
    uint32_t max_transfer; /* the server's limit, bytes */
    int without_descriptors, without_posted_writes;
    unsigned long max_account; /* bytes; 0: the server keeps no accounts */
    int gone;                  /* -errno once the connection is over */
    struct region regions[REGIONS];
    trn_dma_memory* memory; /* memory mapped for the device */
    size_t memory_count;
    uint8_t* input; /* received, not yet taken: [begin, end) */
    size_t begin, end;
    int fd; /* received with the current message; -1: none */
    char error[256];
};

/* A message that has arrived; valid until the next one is received. */
struct incoming {
    struct vu_header head;
    const uint8_t* payload;
    size_t size;
};

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

__attribute__((format(printf, 3, 4))) static int fail(trn_vfio_user* c, int error,
                                                      const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->error, sizeof c->error, format, arguments);
    va_end(arguments);
    return error;
}

/* The connection is lost: all later calls fail too. */
static int lost(trn_vfio_user* c, const char* operation) {
    c->gone = -ENODEV;
    return fail(c, c->gone, "%s", operation);
}

/* ---- receiving ---- */

static void take_fd(trn_vfio_user* c, struct msghdr* message) {
    for (struct cmsghdr* header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int fd;
            memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            if (c->fd >= 0) close(c->fd);
            c->fd = fd;
        }
    }
}

/* Waits until there is input or the connection has an error. 0: not before `deadline`. */
static int await_input(trn_vfio_user* c, uint64_t deadline) {
    for (;;) {
        const uint64_t now = milliseconds();
        struct pollfd wait = {c->socket, POLLIN, 0};
        const int ready = poll(&wait, 1, now < deadline ? (int)(deadline - now) : 0);
        if (ready >= 0 || errno != EINTR) return ready;
    }
}

/* Receives available bytes; without MSG_DONTWAIT in `flags` it waits for the timeout of the
 * socket at most. 1: received, 0: none. */
static int receive(trn_vfio_user* c, int flags) {
    if (c->begin == c->end) c->begin = c->end = 0;
    if (c->begin > 0 && c->end > VU_MAX_MESSAGE) {
        memmove(c->input, c->input + c->begin, c->end - c->begin);
        c->end -= c->begin;
        c->begin = 0;
    }
    struct iovec room = {c->input + c->end, 2 * (size_t)VU_MAX_MESSAGE - c->end};
    union {
        char bytes[CMSG_SPACE(VU_MAX_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    const ssize_t got = recvmsg(c->socket, &message, MSG_CMSG_CLOEXEC | flags);
    if (got > 0) {
        c->end += (size_t)got;
        if (message.msg_controllen > 0) take_fd(c, &message);
        return 1;
    }
    if (got == 0 || errno == ECONNRESET) return lost(c, "the server closed the connection");
    return errno == EAGAIN || errno == EINTR ? 0 : lost(c, strerror(errno));
}

/* Takes the next complete message from the buffer. 1: taken, 0: none yet. */
static int take(trn_vfio_user* c, struct incoming* message) {
    const size_t have = c->end - c->begin;
    if (have < sizeof message->head) return 0;
    memcpy(&message->head, c->input + c->begin, sizeof message->head);
    if (message->head.size < sizeof message->head || message->head.size > VU_MAX_MESSAGE)
        return lost(c, "the server sent a message of an impossible size");
    if (have < message->head.size) return 0;
    message->payload = c->input + c->begin + sizeof message->head;
    message->size = message->head.size - sizeof message->head;
    c->begin += message->head.size;
    return 1;
}

/* ---- sending ---- */

/* Sends one message from its parts. Receives meanwhile, since a server that is sending may block.
 */
static int send_message(trn_vfio_user* c, struct iovec* parts, int count, const int* fds,
                        uint32_t fd_count) {
    union {
        char bytes[CMSG_SPACE(VU_MAX_FDS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    if (fd_count > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, fd_count * sizeof(int));
    }
    const uint64_t deadline = milliseconds() + c->timeout_ms;
    for (;;) {
        const ssize_t done = sendmsg(c->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && errno == EAGAIN) {
            const int may_read = 2 * (size_t)VU_MAX_MESSAGE > c->end;
            struct pollfd wait = {c->socket, (short)(may_read ? POLLIN | POLLOUT : POLLOUT), 0};
            const uint64_t now = milliseconds();
            if (now >= deadline || poll(&wait, 1, (int)(deadline - now)) == 0)
                return lost(c, "the server takes no more requests");
            if ((wait.revents & (POLLIN | POLLHUP)) != 0) {
                const int got = receive(c, MSG_DONTWAIT);
                if (got < 0) return got;
            }
            continue;
        }
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return lost(c, "the server closed the connection");
        message.msg_control = NULL;
        message.msg_controllen = 0;
        size_t sent = (size_t)done;
        while (message.msg_iovlen > 0 && sent >= message.msg_iov->iov_len) {
            sent -= message.msg_iov->iov_len;
            ++message.msg_iov;
            --message.msg_iovlen;
        }
        if (message.msg_iovlen == 0) return 0;
        message.msg_iov->iov_base = (char*)message.msg_iov->iov_base + sent;
        message.msg_iov->iov_len -= sent;
    }
}

/* ---- the device's accesses to memory shared by messages ---- */

static uint8_t* host_bytes(trn_vfio_user* c, uint64_t iova, uint64_t count) {
    for (size_t i = 0; i < c->memory_count; ++i) {
        const trn_dma_memory* memory = &c->memory[i];
        if (iova >= memory->iova && count <= memory->size &&
            iova - memory->iova <= memory->size - count)
            return (uint8_t*)memory->host + (iova - memory->iova);
    }
    return NULL;
}

static int answer_request(trn_vfio_user* c, const struct incoming* received) {
    struct vu_header head = {.id = received->head.id,
                             .command = received->head.command,
                             .size = sizeof head,
                             .flags = VU_REPLY};
    struct vu_dma_access access = {0, 0};
    const int is_read = received->head.command == VU_DMA_READ;
    const int known = is_read || received->head.command == VU_DMA_WRITE;
    uint8_t* bytes = NULL;
    if (known && received->size >= sizeof access) {
        memcpy(&access, received->payload, sizeof access);
        const int fits = access.count <= VU_MAX_TRANSFER &&
                         (is_read || access.count <= received->size - sizeof access);
        if (fits) bytes = host_bytes(c, access.iova, access.count);
    }
    struct iovec parts[3] = {{&head, sizeof head}, {&access, sizeof access}, {bytes, 0}};
    if (bytes == NULL) {
        head.flags |= VU_ERROR;
        head.error = known ? EINVAL : ENOTSUP;
        return send_message(c, parts, 1, NULL, 0);
    }
    if (is_read)
        parts[2].iov_len = access.count;
    else
        memcpy(bytes, received->payload + sizeof access, access.count);
    head.size += (uint32_t)(sizeof access + parts[2].iov_len);
    return send_message(c, parts, 3, NULL, 0);
}

/* ---- requests ---- */

/* Waits for the reply to request `id` and serves the device's accesses meanwhile. Returns 0 or the
 * reply's error. */
static int await_reply(trn_vfio_user* c, uint16_t id, struct incoming* reply) {
    const uint64_t deadline = milliseconds() + c->timeout_ms;
    /* The first receive() waits itself, which saves a poll() per request. */
    for (int first = 1;;) {
        int got = take(c, reply);
        if (got < 0) return got;
        if (got == 0) {
            if (!first && (milliseconds() >= deadline || await_input(c, deadline) == 0))
                return fail(c, -ETIMEDOUT, "no response of the server within %u ms", c->timeout_ms);
            got = receive(c, first ? 0 : MSG_DONTWAIT);
            if (got < 0) return got;
            first = 0;
            continue;
        }
        if ((reply->head.flags & VU_TYPE_MASK) == VU_REQUEST) {
            const int error = answer_request(c, reply);
            if (error != 0) return error;
        } else if (reply->head.id == id) {
            if ((reply->head.flags & VU_ERROR) == 0) return 0;
            const uint32_t error = reply->head.error;
            return error == 0 || error > MAX_ERRNO ? -EIO : -(int)error;
        } /* else a late reply to a request that timed out */
    }
}

struct request {
    uint16_t command;
    const void* fixed; /* the structure of the command */
    size_t fixed_size;
    const void* data; /* bytes after it */
    size_t data_size;
    const int* fds;
    uint32_t fd_count;
    int no_reply;
};

static int transact(trn_vfio_user* c, const struct request* request, struct incoming* reply) {
    if (c->gone != 0) return c->gone;
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    const size_t size = sizeof(struct vu_header) + request->fixed_size + request->data_size;
    struct vu_header head = {.id = ++c->last_id,
                             .command = request->command,
                             .size = (uint32_t)size,
                             .flags = request->no_reply ? VU_REQUEST | VU_NO_REPLY : VU_REQUEST};
    const uint16_t id = head.id;
    struct iovec parts[3] = {{&head, sizeof head},
                             {(void*)request->fixed, request->fixed_size},
                             {(void*)request->data, request->data_size}};
    const int error = send_message(c, parts, 3, request->fds, request->fd_count);
    if (error != 0 || request->no_reply) return error;
    return await_reply(c, id, reply);
}

/* Sends a request and checks that its reply has at least `min_size` bytes. */
static int request_reply(trn_vfio_user* c, const struct request* request, struct incoming* reply,
                         size_t min_size, const char* noun) {
    const int error = transact(c, request, reply);
    if (error != 0 && c->gone == 0 && error != -ETIMEDOUT)
        return fail(c, error, "%s: error of the server: %s", noun, strerror(-error));
    if (error == 0 && reply->size < min_size)
        return lost(c, "the server sent a reply that is too short");
    return error;
}

/* ---- opening and closing ---- */

static int connect_socket(trn_vfio_user* c, const char* path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return fail(c, -ENAMETOOLONG, "the socket path is longer than %zu characters",
                    sizeof address.sun_path - 1);
    strcpy(address.sun_path, path);
    c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->socket < 0) return fail(c, -errno, "%s", strerror(errno));
    const struct timeval timeout = {.tv_sec = c->timeout_ms / 1000,
                                    .tv_usec = (suseconds_t)(c->timeout_ms % 1000) * 1000};
    setsockopt(c->socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout); /* of connect() */
    if (connect(c->socket, (struct sockaddr*)&address, sizeof address) == 0) return 0;
    const int error = errno;
    return fail(c, -error, "cannot connect to %s: %s", path, strerror(error));
}

/* Text after "key": in flat JSON; NULL: no such key. */
static const char* json_value(const char* json, const char* key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\"", key);
    const char* value = strstr(json, quoted);
    if (value == NULL) return NULL;
    value += strlen(quoted);
    while (*value == ' ' || *value == ':') ++value;
    return value;
}

/* An error reply to the version request may have {"error": "message"}. */
static int explain_refusal(trn_vfio_user* c, int error, const struct incoming* reply) {
    char text[200] = "";
    if (reply->size > 0 && reply->payload[reply->size - 1] == 0) {
        const char* said = json_value((const char*)reply->payload, "error");
        if (said != NULL && *said == '"') snprintf(text, sizeof text, "%s", said + 1);
        for (char* character = text; *character != 0; ++character) {
            if (*character == '\\' && character[1] != 0)
                memmove(character, character + 1, strlen(character));
            else if (*character == '"')
                *character = 0;
            if (*character == 0) break;
        }
    }
    return fail(c, error, "the server refuses us: %s", *text != 0 ? text : strerror(-error));
}

static int plain(const char* text) {
    return text == NULL || (strlen(text) < 256 && strpbrk(text, "\"\\") == NULL);
}

static int agree_on_version(trn_vfio_user* c, const trn_vfio_user_options* options) {
    const char* endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little" : "big";
    const char* board = options->expected_board;
    const char* digest = options->expected_digest;
    if (!plain(board) || !plain(digest))
        return fail(c, -EINVAL, "the expected board or digest is not a plain word");
    char json[1024];
    const int length = snprintf(json, sizeof json,
                                "{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d},"
                                "\"trnvp\":{\"endian\":\"%s\"%s%s%s%s%s%s}}",
                                VU_MAX_FDS, VU_MAX_TRANSFER, endian,
                                board != NULL ? ",\"board\":\"" : "", board != NULL ? board : "",
                                board != NULL ? "\"" : "", digest != NULL ? ",\"digest\":\"" : "",
                                digest != NULL ? digest : "", digest != NULL ? "\"" : "");
    const struct vu_version version = {0, 1};
    const struct request hello = {.command = VU_VERSION,
                                  .fixed = &version,
                                  .fixed_size = sizeof version,
                                  .data = json,
                                  .data_size = (size_t)length + 1};
    struct incoming reply = {.payload = NULL};
    const int error = transact(c, &hello, &reply);
    if (error != 0 && c->gone == 0 && error != -ETIMEDOUT) return explain_refusal(c, error, &reply);
    if (error != 0) return error;
    if (reply.size <= sizeof version || reply.payload[reply.size - 1] != 0)
        return lost(c, "the server's version message is invalid");
    struct vu_version theirs;
    memcpy(&theirs, reply.payload, sizeof theirs);
    if (theirs.major != version.major)
        return fail(c, -EPROTO, "the server speaks vfio-user %u.%u, this client 0.1", theirs.major,
                    theirs.minor);
    const char* limit =
        json_value((const char*)reply.payload + sizeof theirs, "max_data_xfer_size");
    const unsigned long transfer = limit != NULL ? strtoul(limit, NULL, 10) : VU_MAX_TRANSFER;
    c->max_transfer = transfer < 8                 ? 8
                      : transfer > VU_MAX_TRANSFER ? VU_MAX_TRANSFER
                                                   : (uint32_t)transfer;
    const char* accounts = json_value((const char*)reply.payload + sizeof theirs, "max_account");
    c->max_account = accounts != NULL ? strtoul(accounts, NULL, 10) : 0;
    return 0;
}

int trn_vfio_user_open(const char* path, const trn_vfio_user_options* options,
                       trn_vfio_user** client, char* why, size_t why_size) {
    static const trn_vfio_user_options defaults;
    if (options == NULL) options = &defaults;
    *client = NULL;
    trn_vfio_user* c = calloc(1, sizeof *c);
    if (c == NULL) return -ENOMEM;
    c->socket = c->fd = -1;
    c->timeout_ms = options->timeout_ms != 0 ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
    c->without_descriptors = options->without_descriptors;
    c->without_posted_writes = options->without_posted_writes;
    for (int i = 0; i < REGIONS; ++i) c->regions[i].fd = -1;
    c->input = malloc(2 * (size_t)VU_MAX_MESSAGE);
    int error = c->input != NULL ? connect_socket(c, path) : fail(c, -ENOMEM, "out of memory");
    if (error == 0) error = agree_on_version(c, options);
    if (error == 0) {
        *client = c;
        return 0;
    }
    if (why != NULL) snprintf(why, why_size, "%s", c->error);
    trn_vfio_user_close(c);
    return error;
}

void trn_vfio_user_close(trn_vfio_user* c) {
    if (c == NULL) return;
    if (c->socket >= 0) close(c->socket);
    if (c->fd >= 0) close(c->fd);
    for (int i = 0; i < REGIONS; ++i) {
        if (c->regions[i].fd >= 0) close(c->regions[i].fd);
    }
    for (size_t i = 0; i < c->memory_count; ++i) munmap(c->memory[i].host, c->memory[i].size);
    free(c->memory);
    free(c->input);
    free(c);
}

const char* trn_vfio_user_error(const trn_vfio_user* c) {
    return c->error;
}
int trn_vfio_user_socket(const trn_vfio_user* c) {
    return c->socket;
}

/* ---- regions ---- */

/* Offset in the payload of the capability `sparse` and its header; 0: the server's list has none.
 */
static size_t find_sparse(const struct incoming* reply, size_t first,
                          struct vfio_region_info_cap_sparse_mmap* sparse) {
    enum { MAX_CAPABILITIES = 8 };
    size_t offset = first;
    for (int seen = 0; offset != 0 && seen < MAX_CAPABILITIES; ++seen) {
        if (offset > reply->size || reply->size - offset < sizeof *sparse) return 0;
        memcpy(sparse, reply->payload + offset, sizeof *sparse);
        if (sparse->header.id == VFIO_REGION_INFO_CAP_SPARSE_MMAP) return offset;
        offset = sparse->header.next;
    }
    return 0;
}

static void take_areas(struct region* region, const struct incoming* reply,
                       const struct vfio_region_info* info) {
    struct vfio_region_info_cap_sparse_mmap sparse;
    if ((info->flags & VFIO_REGION_INFO_FLAG_MMAP) == 0) return;
    if ((info->flags & VFIO_REGION_INFO_FLAG_CAPS) == 0) { /* without a list: the whole region */
        region->info.area_count = 1;
        region->info.areas[0] = (trn_vfio_user_area){0, info->size};
        return;
    }
    size_t offset = find_sparse(reply, info->cap_offset, &sparse);
    if (offset == 0) return;
    offset += sizeof sparse;
    for (uint32_t i = 0; i < sparse.nr_areas && i < TRN_VFIO_USER_MAX_AREAS; ++i) {
        if (reply->size - offset < sizeof(trn_vfio_user_area)) return;
        memcpy(&region->info.areas[i], reply->payload + offset, sizeof(trn_vfio_user_area));
        region->info.area_count = i + 1;
        offset += sizeof(trn_vfio_user_area);
    }
}

static int region_of(trn_vfio_user* c, uint32_t index, struct region** found) {
    if (index >= REGIONS) return fail(c, -EINVAL, "there is no region %u", index);
    struct region* region = *found = &c->regions[index];
    if (region->known) return 0;
    struct vfio_region_info info = {.argsz = 512, .index = index};
    const struct request request = {
        .command = VU_REGION_INFO, .fixed = &info, .fixed_size = sizeof info};
    struct incoming reply;
    const int error = request_reply(c, &request, &reply, sizeof info, "region info");
    if (error != 0) return error;
    memcpy(&info, reply.payload, sizeof info);
    region->info.size = info.size;
    region->fd_offset = info.offset;
    region->fd = c->fd;
    c->fd = -1;
    if (region->fd >= 0) take_areas(region, &reply, &info);
    region->known = 1;
    return 0;
}

int trn_vfio_user_region_info(trn_vfio_user* c, uint32_t index, trn_vfio_user_region* info) {
    struct region* region;
    const int error = region_of(c, index, &region);
    if (error == 0) *info = region->info;
    return error;
}

/* Whether the server's file has the bytes: accesses beyond its end would kill this process. */
static int file_has(int fd, uint64_t offset, uint64_t size) {
    struct stat file;
    if (fstat(fd, &file) != 0) return 0;
    if (!S_ISREG(file.st_mode)) return 1; /* memory of a device has no size here */
    const uint64_t length = (uint64_t)file.st_size;
    return offset <= length && size <= length - offset;
}

int trn_vfio_user_region_map(trn_vfio_user* c, uint32_t index, uint64_t offset, uint64_t size,
                             void** host) {
    struct region* region;
    const int error = region_of(c, index, &region);
    if (error != 0) return error;
    if (size == 0 || offset % PAGE != 0)
        return fail(c, -EINVAL, "a mapping is made of whole pages");
    for (uint32_t i = 0; i < region->info.area_count; ++i) {
        const trn_vfio_user_area* area = &region->info.areas[i];
        if (offset < area->offset || size > area->size || offset - area->offset > area->size - size)
            continue;
        if (offset > UINT64_MAX - region->fd_offset ||
            !file_has(region->fd, region->fd_offset + offset, size))
            return fail(c, -EINVAL, "the server's file is shorter than its region %u", index);
        void* mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            region->fd, (off_t)(region->fd_offset + offset));
        if (mapped == MAP_FAILED) return fail(c, -errno, "mmap: %s", strerror(errno));
        *host = mapped;
        return 0;
    }
    return fail(c, -ENOTSUP, "the server offers no mapping of region %u there", index);
}

void trn_vfio_user_region_unmap(trn_vfio_user* c, void* host, uint64_t size) {
    (void)c;
    munmap(host, size);
}

/* ---- accesses ---- */

int trn_vfio_user_read(trn_vfio_user* c, uint32_t region, uint64_t offset, void* bytes,
                       uint64_t count) {
    for (uint64_t done = 0; done < count;) {
        const uint64_t left = count - done;
        const uint32_t part = left < c->max_transfer ? (uint32_t)left : c->max_transfer;
        const struct vu_region_access access = {offset + done, region, part};
        const struct request request = {
            .command = VU_REGION_READ, .fixed = &access, .fixed_size = sizeof access};
        struct incoming reply;
        const int error = request_reply(c, &request, &reply, sizeof access + part, "read");
        if (error != 0) return error;
        memcpy((uint8_t*)bytes + done, reply.payload + sizeof access, part);
        done += part;
    }
    return 0;
}

static int write_region(trn_vfio_user* c, uint32_t region, uint64_t offset, const void* bytes,
                        uint64_t count, int posted) {
    for (uint64_t done = 0; done < count;) {
        const uint64_t left = count - done;
        const uint32_t part = left < c->max_transfer ? (uint32_t)left : c->max_transfer;
        const struct vu_region_access access = {offset + done, region, part};
        const struct request request = {.command = VU_REGION_WRITE,
                                        .fixed = &access,
                                        .fixed_size = sizeof access,
                                        .data = (const uint8_t*)bytes + done,
                                        .data_size = part,
                                        .no_reply = posted};
        struct incoming reply = {.size = 0};
        const int error = request_reply(c, &request, &reply, 0, "write");
        if (error != 0) return error;
        done += part;
    }
    return 0;
}

int trn_vfio_user_write(trn_vfio_user* c, uint32_t region, uint64_t offset, const void* bytes,
                        uint64_t count) {
    return write_region(c, region, offset, bytes, count, 0);
}
int trn_vfio_user_post(trn_vfio_user* c, uint32_t region, uint64_t offset, const void* bytes,
                       uint64_t count) {
    return write_region(c, region, offset, bytes, count, !c->without_posted_writes);
}
int trn_vfio_user_read32(trn_vfio_user* c, uint32_t region, uint64_t offset, uint32_t* value) {
    return trn_vfio_user_read(c, region, offset, value, sizeof *value);
}
int trn_vfio_user_write32(trn_vfio_user* c, uint32_t region, uint64_t offset, uint32_t value) {
    return trn_vfio_user_write(c, region, offset, &value, sizeof value);
}
int trn_vfio_user_read64(trn_vfio_user* c, uint32_t region, uint64_t offset, uint64_t* value) {
    return trn_vfio_user_read(c, region, offset, value, sizeof *value);
}
int trn_vfio_user_write64(trn_vfio_user* c, uint32_t region, uint64_t offset, uint64_t value) {
    return trn_vfio_user_write(c, region, offset, &value, sizeof value);
}

/* ---- DMA memory ---- */

static void* shared_pages(uint64_t size, int* fd) {
    *fd = memfd_create("trn-dma", MFD_CLOEXEC);
    if (*fd < 0) return MAP_FAILED;
    if (ftruncate(*fd, (off_t)size) != 0) return MAP_FAILED;
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

int trn_vfio_user_dma_alloc(trn_vfio_user* c, uint64_t size, uint64_t iova,
                            trn_dma_memory* memory) {
    if (size == 0 || size > UINT64_MAX / 2 || iova % PAGE != 0)
        return fail(c, -EINVAL, "DMA memory is made of whole pages");
    trn_dma_memory added = {.iova = iova, .size = (size + PAGE - 1) / PAGE * PAGE};
    int fd = -1;
    if (c->without_descriptors)
        added.host =
            mmap(NULL, added.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else
        added.host = shared_pages(added.size, &fd);
    trn_dma_memory* more = realloc(c->memory, (c->memory_count + 1) * sizeof *more);
    if (more != NULL) c->memory = more;
    int error = 0;
    if (added.host == MAP_FAILED || more == NULL) {
        error = fail(c, -ENOMEM, "no memory for %llu bytes", (unsigned long long)size);
    } else {
        c->memory[c->memory_count++] = added; /* the device may access it before the reply */
        const struct vu_dma_map map = {sizeof map, 3, 0, iova, added.size};
        const struct request request = {.command = VU_DMA_MAP,
                                        .fixed = &map,
                                        .fixed_size = sizeof map,
                                        .fds = &fd,
                                        .fd_count = fd >= 0 ? 1 : 0};
        struct incoming reply;
        error = request_reply(c, &request, &reply, 0, "DMA map");
        if (error != 0) --c->memory_count;
    }
    if (fd >= 0) close(fd);
    if (error != 0 && added.host != MAP_FAILED) munmap(added.host, added.size);
    if (error == 0) *memory = added;
    return error;
}

int trn_vfio_user_dma_free(trn_vfio_user* c, const trn_dma_memory* memory) {
    for (size_t i = 0; i < c->memory_count; ++i) {
        if (c->memory[i].iova != memory->iova) continue;
        const struct vu_dma_unmap unmap = {sizeof unmap, 0, memory->iova, c->memory[i].size};
        const struct request request = {
            .command = VU_DMA_UNMAP, .fixed = &unmap, .fixed_size = sizeof unmap};
        struct incoming reply;
        const int error = request_reply(c, &request, &reply, 0, "DMA unmap");
        munmap(c->memory[i].host, c->memory[i].size);
        c->memory[i] = c->memory[--c->memory_count];
        return error;
    }
    return fail(c, -EINVAL, "no DMA memory at %#llx", (unsigned long long)memory->iova);
}

/* ---- interrupts, reset, time ---- */

int trn_vfio_user_interrupt_count(trn_vfio_user* c, uint32_t* count) {
    struct vfio_irq_info info = {.argsz = sizeof info, .index = VFIO_PCI_MSIX_IRQ_INDEX};
    const struct request request = {
        .command = VU_IRQ_INFO, .fixed = &info, .fixed_size = sizeof info};
    struct incoming reply;
    const int error = request_reply(c, &request, &reply, sizeof info, "interrupt info");
    if (error != 0) return error;
    memcpy(&info, reply.payload, sizeof info);
    *count = info.count;
    return 0;
}

int trn_vfio_user_interrupts(trn_vfio_user* c, uint32_t first, uint32_t count,
                             const int* eventfds) {
    for (uint32_t done = 0; done < count;) {
        const uint32_t part = count - done < VU_MAX_FDS ? count - done : VU_MAX_FDS;
        const struct vfio_irq_set set = {
            .argsz = sizeof set,
            .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
            .index = VFIO_PCI_MSIX_IRQ_INDEX,
            .start = first + done,
            .count = part};
        const struct request request = {.command = VU_SET_IRQS,
                                        .fixed = &set,
                                        .fixed_size = sizeof set,
                                        .fds = eventfds != NULL ? eventfds + done : NULL,
                                        .fd_count = eventfds != NULL ? part : 0};
        struct incoming reply;
        const int error = request_reply(c, &request, &reply, 0, "set interrupts");
        if (error != 0) return error;
        done += part;
    }
    return 0;
}

int trn_vfio_user_reset(trn_vfio_user* c) {
    const struct request request = {.command = VU_DEVICE_RESET};
    struct incoming reply;
    return request_reply(c, &request, &reply, 0, "reset");
}

static int time_request(trn_vfio_user* c, uint16_t command, uint64_t wait, uint64_t* now) {
    const struct vu_time duration = {wait};
    const struct request request = {
        .command = command, .fixed = &duration, .fixed_size = sizeof duration};
    struct incoming reply;
    const int error = request_reply(c, &request, &reply, sizeof duration, "simulated time");
    if (error == 0 && now != NULL) memcpy(now, reply.payload, sizeof *now);
    return error;
}

int trn_vfio_user_now(trn_vfio_user* c, uint64_t* nanoseconds) {
    return time_request(c, VU_TRN_NOW, 0, nanoseconds);
}

/* Waits in steps, so that a slow simulation does not cause a timeout. */
int trn_vfio_user_wait(trn_vfio_user* c, uint64_t nanoseconds, uint64_t* now) {
    const uint64_t step = 1000000;
    do {
        const uint64_t part = nanoseconds < step ? nanoseconds : step;
        const int error = time_request(c, VU_TRN_WAIT, part, now);
        if (error != 0) return error;
        nanoseconds -= part;
    } while (nanoseconds > 0);
    return 0;
}

int trn_vfio_user_account(trn_vfio_user* c, const void* bytes, uint32_t count) {
    if (count > c->max_account) return 0;
    const struct request request = {
        .command = VU_TRN_ACCOUNT, .data = bytes, .data_size = count, .no_reply = 1};
    struct incoming reply = {.size = 0};
    return request_reply(c, &request, &reply, 0, "account");
}

int trn_vfio_user_serve(trn_vfio_user* c, uint32_t timeout_ms) {
    if (c->gone != 0) return c->gone;
    const uint64_t deadline = milliseconds() + timeout_ms;
    int served = 0;
    for (int late = 0;;) {
        struct incoming message;
        int got;
        while ((got = take(c, &message)) > 0) {
            if ((message.head.flags & VU_TYPE_MASK) != VU_REQUEST) continue;
            const int error = answer_request(c, &message);
            if (error != 0) return error;
            ++served;
        }
        if (got < 0) return got;
        if (served > 0 || late || await_input(c, deadline) == 0) return served;
        got = receive(c, MSG_DONTWAIT);
        if (got < 0) return got;
        late = milliseconds() >= deadline;
    }
}
