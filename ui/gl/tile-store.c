// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/tile-store.h"

#include <sys/resource.h>
#include <unistd.h>

#define WORKERS 2
#define NICE 10
#define STALE_FRAMES 3

// Where workers leave finished requests; outlives the store while some are under way.
typedef struct {
    gatomicrefcount refs;
    int closed; // atomic: the store is gone
    int frame;  // atomic: the store's frame
    GMainContext *context;
    GMutex lock;
    GQueue finished;      // Request
    gboolean announced;   // a source that empties the queue is attached
    LimnTileStore *store; // owner's thread only; NULL when closed
} Mailbox;

typedef struct {
    Mailbox *mailbox;
    LimnPyramid *pyramid;
    guint64 key;
    int level, column, row;
    int wanted; // atomic: frame that last asked
    LimnTile *tile;
} Request;

typedef struct {
    LimnTile *tile;
    int frame;
} Entry;

struct LimnTileStore {
    guint64 id;
    LimnPyramid *pyramid;
    LimnTileReadyFunc ready;
    gpointer user_data;
    GHashTable *entries; // key -> Entry
    GHashTable *pending; // key -> Request (owned by the pool and the mailbox)
    GPtrArray *retired;  // replaced tiles that the current frame may still hold
    Mailbox *mailbox;
    int frame;
    gint64 bytes;
};

static guint64
make_key(int level, int column, int row)
{
    return (guint64) level << 56 | (guint64) column << 28 | (guint64) row;
}

static gint64
tile_bytes(const LimnTile *tile)
{
    return (gint64) tile->width * tile->height * 4;
}

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    limn_tile_free(entry->tile);
    g_free(entry);
}

// ---- mailbox and requests

static Mailbox *
mailbox_ref(Mailbox *mailbox)
{
    g_atomic_ref_count_inc(&mailbox->refs);
    return mailbox;
}

static void
mailbox_unref(gpointer data)
{
    Mailbox *mailbox = data;

    if (!g_atomic_ref_count_dec(&mailbox->refs))
        return;
    g_main_context_unref(mailbox->context);
    g_mutex_clear(&mailbox->lock);
    g_free(mailbox);
}

static void
request_free(Request *request)
{
    limn_tile_free(request->tile);
    limn_pyramid_unref(request->pyramid);
    mailbox_unref(request->mailbox);
    g_free(request);
}

static void
insert_tile(LimnTileStore *store, guint64 key, LimnTile *tile)
{
    Entry *old = g_hash_table_lookup(store->entries, &key);
    Entry *entry = g_new0(Entry, 1);

    if (old != NULL) {
        store->bytes -= tile_bytes(old->tile);
        g_ptr_array_add(store->retired, g_steal_pointer(&old->tile));
    }
    entry->tile = tile;
    entry->frame = store->frame;
    store->bytes += tile_bytes(tile);
    g_hash_table_insert(store->entries, g_memdup2(&key, sizeof(key)), entry);
}

static gboolean
deliver(gpointer data)
{
    Mailbox *mailbox = data;
    LimnTileStore *store = mailbox->store;
    gboolean any = FALSE;
    Request *request;
    GQueue finished;

    g_mutex_lock(&mailbox->lock);
    finished = mailbox->finished;
    g_queue_init(&mailbox->finished);
    mailbox->announced = FALSE;
    g_mutex_unlock(&mailbox->lock);

    while ((request = g_queue_pop_head(&finished)) != NULL) {
        if (store != NULL) {
            g_hash_table_remove(store->pending, &request->key);
            if (request->tile != NULL) {
                insert_tile(store, request->key, g_steal_pointer(&request->tile));
                any = TRUE;
            }
        }
        request_free(request);
    }
    if (any && store->ready != NULL)
        store->ready(store->user_data);
    return G_SOURCE_REMOVE;
}

static void
finish_request(Request *request)
{
    Mailbox *mailbox = mailbox_ref(request->mailbox);
    gboolean announce;

    g_mutex_lock(&mailbox->lock);
    g_queue_push_tail(&mailbox->finished, request);
    announce = !mailbox->announced;
    mailbox->announced = TRUE;
    g_mutex_unlock(&mailbox->lock);
    if (announce) {
        g_autoptr(GSource) source = g_idle_source_new();

        g_source_set_priority(source, G_PRIORITY_DEFAULT);
        g_source_set_callback(source, deliver, mailbox_ref(mailbox), mailbox_unref);
        g_source_attach(source, mailbox->context);
    }
    mailbox_unref(mailbox);
}

static void
work(gpointer data, gpointer unused)
{
    static __thread gboolean prepared;
    Request *request = data;
    Mailbox *mailbox = request->mailbox;
    int age = g_atomic_int_get(&mailbox->frame) - g_atomic_int_get(&request->wanted);

    if (!prepared) {
        (void) setpriority(PRIO_PROCESS, (id_t) gettid(), NICE);
        prepared = TRUE;
    }
    if (!g_atomic_int_get(&mailbox->closed) && age < STALE_FRAMES)
        request->tile =
            limn_pyramid_make_tile(request->pyramid, request->level, request->column,
                                   request->row, &mailbox->closed);
    finish_request(request);
}

// Threads of our own: their priority is lowered for good, which a shared pool must not
// see.
static GThreadPool *
get_pool(void)
{
    static gsize once;
    static GThreadPool *pool;

    if (g_once_init_enter(&once)) {
        pool = g_thread_pool_new(work, NULL, WORKERS, TRUE, NULL);
        g_once_init_leave(&once, 1);
    }
    return pool;
}

static void
request_tile(LimnTileStore *store, guint64 key, int level, int column, int row)
{
    Request *request = g_hash_table_lookup(store->pending, &key);

    if (request != NULL) {
        g_atomic_int_set(&request->wanted, store->frame);
        return;
    }
    request = g_new0(Request, 1);
    request->mailbox = mailbox_ref(store->mailbox);
    request->pyramid = limn_pyramid_ref(store->pyramid);
    request->key = key;
    request->level = level;
    request->column = column;
    request->row = row;
    request->wanted = store->frame;
    g_hash_table_insert(store->pending, &request->key, request);
    g_thread_pool_push(get_pool(), request, NULL);
}

// ---- store

LimnTileStore *
limn_tile_store_new(LimnPyramid *pyramid, LimnTileReadyFunc ready, gpointer user_data)
{
    static guint64 last_id;
    LimnTileStore *store = g_new0(LimnTileStore, 1);

    store->id = ++last_id;
    store->pyramid = limn_pyramid_ref(pyramid);
    store->ready = ready;
    store->user_data = user_data;
    store->entries =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, entry_free);
    store->pending = g_hash_table_new(g_int64_hash, g_int64_equal);
    store->retired = g_ptr_array_new_with_free_func((GDestroyNotify) limn_tile_free);
    store->mailbox = g_new0(Mailbox, 1);
    g_atomic_ref_count_init(&store->mailbox->refs);
    g_mutex_init(&store->mailbox->lock);
    g_queue_init(&store->mailbox->finished);
    store->mailbox->context = g_main_context_ref_thread_default();
    store->mailbox->store = store;
    return store;
}

void
limn_tile_store_free(LimnTileStore *store)
{
    if (store == NULL)
        return;
    store->mailbox->store = NULL;
    g_atomic_int_set(&store->mailbox->closed, TRUE);
    mailbox_unref(store->mailbox);
    g_hash_table_unref(store->entries);
    g_hash_table_unref(store->pending);
    g_ptr_array_unref(store->retired);
    limn_pyramid_unref(store->pyramid);
    g_free(store);
}

guint64
limn_tile_store_get_id(const LimnTileStore *store)
{
    return store->id;
}

LimnPyramid *
limn_tile_store_get_pyramid(const LimnTileStore *store)
{
    return store->pyramid;
}

guint
limn_tile_store_n_pending(const LimnTileStore *store)
{
    return g_hash_table_size(store->pending);
}

gint64
limn_tile_store_get_bytes(const LimnTileStore *store)
{
    return store->bytes;
}

static void
remove_entry(LimnTileStore *store, guint64 key)
{
    Entry *entry = g_hash_table_lookup(store->entries, &key);

    if (entry == NULL)
        return;
    store->bytes -= tile_bytes(entry->tile);
    g_hash_table_remove(store->entries, &key);
}

// Drops the tile that was not drawn for the longest time, but none of the last frame.
static gboolean
drop_oldest(LimnTileStore *store)
{
    GHashTableIter iter;
    gpointer key, value;
    guint64 oldest = 0;
    int frame = store->frame - 1;
    gboolean found = FALSE;

    g_hash_table_iter_init(&iter, store->entries);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if (((Entry *) value)->frame < frame) {
            frame = ((Entry *) value)->frame;
            oldest = *(guint64 *) key;
            found = TRUE;
        }
    }
    if (found)
        remove_entry(store, oldest);
    return found;
}

void
limn_tile_store_begin_frame(LimnTileStore *store)
{
    store->frame++;
    g_ptr_array_set_size(store->retired, 0);
    g_atomic_int_set(&store->mailbox->frame, store->frame);
    while (store->bytes > LIMN_TILE_STORE_BUDGET && drop_oldest(store))
        ;
}

const LimnTile *
limn_tile_store_peek(LimnTileStore *store, int level, int column, int row)
{
    guint64 key = make_key(level, column, row);
    Entry *entry = g_hash_table_lookup(store->entries, &key);

    if (entry == NULL)
        return NULL;
    entry->frame = store->frame;
    return entry->tile;
}

static LimnTile *
make_now(LimnTileStore *store, int level, int column, int row)
{
    LimnTile *tile = NULL;

    if (store->ready == NULL || limn_pyramid_is_cheap(store->pyramid, level))
        tile = limn_pyramid_make_tile(store->pyramid, level, column, row, NULL);
    return tile;
}

const LimnTile *
limn_tile_store_get(LimnTileStore *store, int level, int column, int row)
{
    guint64 key = make_key(level, column, row);
    const LimnTile *found = limn_tile_store_peek(store, level, column, row);
    gboolean coarsest = level == limn_pyramid_n_levels(store->pyramid) - 1;
    LimnTile *tile;

    if (found != NULL && !found->preview)
        return found;
    tile = make_now(store, level, column, row);
    if (tile == NULL) {
        if (store->ready != NULL)
            request_tile(store, key, level, column, row);
        if (found != NULL || !coarsest)
            return found;
        tile = limn_pyramid_make_preview(store->pyramid);
    }
    insert_tile(store, key, tile);
    return tile;
}

void
limn_tile_store_release(LimnTileStore *store, const LimnTile *tile)
{
    remove_entry(
        store, make_key(tile->level, tile->x / LIMN_TILE_SIZE, tile->y / LIMN_TILE_SIZE));
}
