/* Who is told of the steps of a run, by a model that was compiled with --profile. C99 and C++; no
 * clock of its own, so that it works where there is no system.
 *
 *   static uint64_t now(void *context) { return *(volatile uint32_t *)context; }
 *   static void step(void *context, int32_t step, int32_t worker, uint64_t begin, uint64_t end);
 *   const aotc_profile profile = {&timer, now, step};
 *   in.profile = &profile;
 */
#ifndef AOTC_PROFILE_H_
#define AOTC_PROFILE_H_

#include <stddef.h>
#include <stdint.h>

typedef struct aotc_profile {
  void *context;
  /* The time, in any unit; asked by each worker in front of a step and behind it. CUDA models have
   * the device's time in nanoseconds since the run began, and do not ask: it may be NULL. */
  uint64_t (*now)(void *context);
  /* A step of metadata.json's list is done; those of a loop once a round. CPU models call it in
   * each worker's own thread, workers without a task too; CUDA models in the caller's, when the run
   * is over or a good many steps wait to be told of, with worker 0. */
  void (*step)(void *context, int32_t step, int32_t worker, uint64_t begin, uint64_t end);
} aotc_profile;

/* The time; 0 where nobody is told. */
static inline uint64_t aotc_profile_now(const aotc_profile *profile) {
  return profile != NULL ? profile->now(profile->context) : 0;
}

/* Tells of a step that began then and ends now. */
static inline void aotc_profile_step(const aotc_profile *profile, int32_t step, int32_t worker,
                                     uint64_t begin) {
  if (profile == NULL) return;
  profile->step(profile->context, step, worker, begin, profile->now(profile->context));
}

#endif /* AOTC_PROFILE_H_ */
