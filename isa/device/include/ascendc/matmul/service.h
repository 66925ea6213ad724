/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by <lib/matmul_intf.h>. Ascend C: vector cores hand products to the cube core of their
 * group through the system workspace. Each vector core has a share of it: the number of jobs that
 * it has posted, the number that are done, a ring of jobs, and room for tiles from and to UB.
 */
#pragma once

namespace AscendC
{

constexpr uint32_t LEO_JOBS = 4, LEO_JOB_BYTES = 128;
constexpr uint32_t LEO_SHARE_POSTED = 0, LEO_SHARE_DONE = 64, LEO_SHARE_RING = 128;
constexpr uint32_t LEO_SHARE_C = 4096, LEO_SHARE_A = LEO_SHARE_C + 131072,
                   LEO_SHARE_B = LEO_SHARE_A + 94208, LEO_SHARE_BYTES = LEO_SHARE_B + 94208;
constexpr uint16_t LEO_SERVICE_FLAG = 0; // between cores: the cube core listens
static_assert(sizeof(leo_matmul_job) <= LEO_JOB_BYTES);

/* Of a vector core, counted over all groups. */
LEO_AC_INLINE GM_ADDR leo_share(GM_ADDR workspace, uint64_t vector)
{
    return workspace + vector * LEO_SHARE_BYTES;
}

LEO_AC_INLINE void leo_clean_job(GM_ADDR place)
{
    dcci(place, SINGLE_CACHE_LINE);
    dcci(place + LEO_JOB_BYTES / 2, SINGLE_CACHE_LINE);
}

/** The vector core's side; its end tells the cube core that nothing more comes. */
class leo_matmul_client
{
  public:
    LEO_AC_SMALL leo_matmul_client(GM_ADDR workspace)
        : share_(leo_share(workspace, (uint64_t)GetBlockIdx()))
    {
        CrossCoreWaitFlag(LEO_SERVICE_FLAG);
    }

    LEO_AC_METHOD ~leo_matmul_client()
    {
        leo_matmul_job job{};
        job.flags = LEO_JOB_QUIT;
        post(job);
    }

    leo_matmul_client(const leo_matmul_client &) = delete;

    /** All that this core was given before is done first. The job's number, for wait. */
    LEO_AC_SMALL uint32_t post(const leo_matmul_job &job)
    {
        if (posted_ >= LEO_JOBS) {
            wait(posted_ - LEO_JOBS + 1);
        }
        GM_ADDR place = share_ + LEO_SHARE_RING + posted_ % LEO_JOBS * LEO_JOB_BYTES;
        const uint64_t *from = (const uint64_t *)&job;
        for (uint32_t i = 0; i < (sizeof(job) + 7) / 8; i++) {
            ((volatile __gm__ uint64_t *)place)[i] = from[i];
        }
        leo_clean_job(place);
        leo_poll_set((__gm__ uint32_t *)(share_ + LEO_SHARE_POSTED), ++posted_);
        return posted_;
    }

    LEO_AC_METHOD void wait(uint32_t number)
    {
        leo_poll_wait((__gm__ uint32_t *)(share_ + LEO_SHARE_DONE), number);
    }

    LEO_AC_METHOD GM_ADDR share() const
    {
        return share_;
    }

  private:
    GM_ADDR share_;
    uint32_t posted_ = 0;
};

inline LEO_DEVICE leo_matmul_client *leo_matmul_service; /**< of this vector core, while it lives */

/* The next job of one of the group's vector cores: which of them. */
static __attribute__((noinline, unused)) uint32_t leo_next_job(__gm__ uint32_t *const *posted,
                                                               const uint32_t *taken)
{
    for (;;) {
        const uint32_t first = leo_poll_get(posted[0]), second = leo_poll_get(posted[1]);
        if (first != taken[0]) {
            return 0;
        }
        if (second != taken[1]) {
            return 1;
        }
    }
}

LEO_AC_INLINE void leo_run_job(uint32_t, const leo_matmul_job &)
{
}

template <typename Object, typename... Others>
LEO_AC_INLINE void leo_run_job(uint32_t object, const leo_matmul_job &job, Object &,
                               Others &...others)
{
    if (object == 0) {
        Object::leo_engine::run(job);
    } else {
        leo_run_job(object - 1, job, others...);
    }
}

/** The cube core's side: until all vector cores of the group have ended. */
template <typename... Objects>
LEO_AC_INLINE void leo_matmul_serve(GM_ADDR workspace, Objects &...objects)
{
    const uint32_t vectors = (uint32_t)leo_group_vectors();
    __gm__ uint32_t *posted[2];
    uint32_t taken[2] = {0, 0}, open = vectors;
    GM_ADDR share[2];
    for (uint32_t v = 0; v < 2; v++) {
        share[v] = leo_share(workspace, (uint64_t)get_block_idx() * vectors + v % vectors);
        posted[v] = (__gm__ uint32_t *)(share[v] + LEO_SHARE_POSTED);
        leo_poll_set(posted[v], 0);
        leo_poll_set((__gm__ uint32_t *)(share[v] + LEO_SHARE_DONE), 0);
    }
    CrossCoreSetFlag<2, PIPE_FIX>(LEO_SERVICE_FLAG);
    while (open) {
        const uint32_t v = leo_next_job(posted, taken);
        GM_ADDR place = share[v] + LEO_SHARE_RING + taken[v]++ % LEO_JOBS * LEO_JOB_BYTES;
        leo_matmul_job job;
        leo_clean_job(place);
        for (uint32_t i = 0; i < (sizeof(job) + 7) / 8; i++) {
            ((uint64_t *)&job)[i] = ((volatile __gm__ uint64_t *)place)[i];
        }
        if (job.flags & LEO_JOB_QUIT) {
            open--;
        } else {
            leo_run_job(job.flags & LEO_JOB_OBJECT, job, objects...);
        }
        if (vectors == 1) {
            taken[1] = taken[0];
        }
        leo_poll_set((__gm__ uint32_t *)(share[v] + LEO_SHARE_DONE), taken[v]);
    }
}

} // namespace AscendC
